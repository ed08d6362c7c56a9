import { copyButton, el } from "./dom.js";

// machine shows the machine of the measurement, whether it was quiet enough, and what the numbers
// hold for.
export function machine(t, view, language) {
  const { environment: e, quiet } = view.about;
  const lines = [];
  if (e.kernel) {
    lines.push(t("machine_text", {
      kernel: e.kernel, cpu: e.cpu_model, cpus: e.cpus, privilege: e.privilege === "user namespace" ? t("user_namespace") : e.privilege,
      virtualisation: e.virtualisation === "none" ? t("bare") : t("virtualised", { name: e.virtualisation === "unknown hypervisor" ? t("unknown_hypervisor") : e.virtualisation }),
    }));
  }
  if (view.started) lines.push(t("measured", { started: view.started.replace("T", " ").replace("Z", " UTC"), version: view.version }));
  lines.push(quiet[language]);
  return el("div", { class: "machine" },
    !view.finished && el("p", { class: "strong" }, t("interrupted")),
    el("ul", {}, lines.map((line) => el("li", {}, line))),
    view.where[language] && el("p", { class: "quiet" }, view.where[language]));
}

// commandOf runs a result's plan again, from the file that the page saves; of a mesh, whose nodes
// it doesn't reach, it prints the result.
const commandOf = (view) => (view.mesh ? "tare report tare-result.json" : "tare run tare-result.json");

// about shows all that is needed to repeat the measurement, and saves the samples.
export function about(t, views) {
  const samples = el("button", { type: "button", id: "download" }, t("download"));
  samples.addEventListener("click", async () => {
    const text = await unpacked();
    const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "tare-result.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  return el("section", { "aria-labelledby": "about" }, el("h2", { id: "about" }, t("about")),
    el("p", {}, t("samples_text"), " ", samples),
    views.map((view) => [
      el("p", {}, `${t(view.mesh ? "print_again" : "command")}${t("colon")}`, el("code", {}, commandOf(view)), " ", copyButton(t("copy"), t("copied"), () => commandOf(view))),
      el("details", {}, el("summary", {}, t("environment")), json(t("environment"), view.about.environment)),
      el("details", {}, el("summary", {}, t("plan")), json(t("plan"), view.about.plan)),
      view.warnings?.length > 0 && el("details", { open: true }, el("summary", {}, t("general_warnings")), el("ul", {}, view.warnings.map((w) => el("li", {}, w)))),
      view.unread?.length > 0 && el("details", {}, el("summary", {}, t("unread")), el("ul", {}, view.unread.map((u) => el("li", {}, `${u.source}: ${u.reason}`)))),
    ]));
}

const json = (label, value) => el("pre", { tabindex: "0", role: "group", "aria-label": label }, JSON.stringify(value, null, 1));

// unpacked returns the results as the run wrote them, one after the other.
export async function unpacked() {
  const packed = Uint8Array.from(atob(JSON.parse(document.getElementById("result").textContent)), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
