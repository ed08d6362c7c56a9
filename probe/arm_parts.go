package probe

// armPart names the core of an arm64 CPU by the numbers of its implementer and part, as lscpu of
// util-linux 2.41 does (sys-utils/lscpu-arm.c); empty: it is not in the list, which has servers,
// clouds and what people have on desks.
func armPart(implementer, part string) string {
	return map[string]string{
		"0x00 0x051": "QEMU TCG CPU", // its -cpu max

		"0x41 0xd03": "Arm Cortex-A53", "0x41 0xd05": "Arm Cortex-A55", "0x41 0xd07": "Arm Cortex-A57",
		"0x41 0xd08": "Arm Cortex-A72", "0x41 0xd0b": "Arm Cortex-A76", "0x41 0xd41": "Arm Cortex-A78",
		"0x41 0xd0c": "Arm Neoverse-N1", // Graviton2, Ampere Altra
		"0x41 0xd40": "Arm Neoverse-V1", // Graviton3
		"0x41 0xd49": "Arm Neoverse-N2", // Yitian 710
		"0x41 0xd4a": "Arm Neoverse-E1",
		"0x41 0xd4f": "Arm Neoverse-V2", // Graviton4, Grace, Axion
		"0x41 0xd83": "Arm Neoverse-V3AE", "0x41 0xd84": "Arm Neoverse-V3", "0x41 0xd8e": "Arm Neoverse-N3",

		"0x43 0x0a1": "Cavium ThunderX-88XX", "0x43 0x0af": "Cavium ThunderX2-99xx", "0x43 0x0b8": "Cavium ThunderX3-T110",
		"0x46 0x001": "Fujitsu A64FX", "0x46 0x003": "Fujitsu MONAKA",
		"0x48 0xd01": "HiSilicon TaiShan-v110 (Kunpeng 920)", "0x48 0xd02": "HiSilicon TaiShan-v120",
		"0x4e 0x004": "NVIDIA Carmel",
		"0x50 0x000": "APM X-Gene",
		"0x51 0xc00": "Qualcomm Falkor", "0x51 0xc01": "Qualcomm Saphira", "0x51 0x001": "Qualcomm Oryon",
		"0x61 0x022": "Apple Icestorm-M1", "0x61 0x023": "Apple Firestorm-M1", "0x61 0x024": "Apple Icestorm-M1-Pro",
		"0x61 0x025": "Apple Firestorm-M1-Pro", "0x61 0x028": "Apple Icestorm-M1-Max", "0x61 0x029": "Apple Firestorm-M1-Max",
		"0x61 0x032": "Apple Blizzard-M2", "0x61 0x033": "Apple Avalanche-M2",
		"0x6d 0xd49": "Microsoft Azure-Cobalt-100",
		"0x70 0x662": "Phytium FTC662", "0x70 0x663": "Phytium FTC663", "0x70 0x862": "Phytium FTC862",
		"0xc0 0xac3": "Ampere Ampere-1", "0xc0 0xac4": "Ampere Ampere-1a",
	}[implementer+" "+part]
}
