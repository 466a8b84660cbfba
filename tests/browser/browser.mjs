// A headless Chromium with one page, driven by lines of JSON: [name, ...arguments] comes in by
// stdin, {result} or {error} goes out by stdout.
//
// Arguments: the Chromium to run, and the path of playwright-core.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [executablePath, playwright] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(playwright);
const browser = await chromium.launch({ executablePath });
const PATIENCE = { timeout: 120_000 };

let context;
let page;
let requests;
let logged;

const commands = {
  /** Opens a page, and waits until it is ready or says why not. */
  async open(url, options = {}) {
    await visit(url, options);
    return settled();
  },

  /** Opens the page that shows attention. */
  async show(url, options = {}) {
    await visit(url, options);
    return attention();
  },

  /** Opens a page that has nothing to wait for. */
  async visit(url) {
    await visit(url, {});
  },

  /** What a function of the page resolves to. */
  async resolve(name, ...parameters) {
    return page.evaluate(([name, parameters]) => self[name](...parameters), [name, parameters]);
  },

  async attention() {
    return attention();
  },

  /** Sets one of the lists of choices. */
  async select(id, value) {
    await page.selectOption(`#${id}`, { value });
    return attention();
  },

  /** Points at the piece at a place. */
  async hover(place) {
    await page.hover(`#queries > :nth-child(${place + 1})`);
    return attention();
  },

  async leave() {
    await page.hover("h1");
    return attention();
  },

  async tap(place) {
    await page.tap(`#queries > :nth-child(${place + 1})`);
    return attention();
  },

  /** Moves the focus to the piece that is chosen. */
  async focus() {
    await page.focus("#queries [tabindex='0']");
  },

  async press(key) {
    await page.keyboard.press(key);
    return attention();
  },

  /** Gives the page of a server a key, and waits for what comes of it. */
  async enterKey(key) {
    await page.fill("#key", key);
    await page.press("#key", "Enter");
    return settled();
  },

  /** The names of the fields that are shown, and the keys that the browser keeps for longer than a tab. */
  async fields() {
    return page.evaluate(() => ({
      shown: [...document.querySelectorAll("input")].filter((field) => field.checkVisibility()).map((field) => field.id),
      kept: [...Object.values({ ...localStorage }), document.cookie, location.href].join(" "),
    }));
  },

  /** Chooses a file with a text on the page of a server; what the page then says, and the new text. */
  async upload(name, text) {
    await page.setInputFiles("#file", { name, mimeType: "", buffer: Buffer.from(text) });
    await page.waitForSelector("#file-status a", PATIENCE);
    const said = await page.innerText("#file-status");
    const coming = page.waitForEvent("download", PATIENCE);
    await page.click("#file-status a");
    const download = await coming;
    return { said, name: download.suggestedFilename(), content: await readFile(await download.path(), "utf8") };
  },

  /** Replaces the text at once: `fill` types it, which takes a minute for a thousand lines. */
  async write(text) {
    await page.$eval(
      "#source",
      (field, text) => {
        field.value = text;
        field.dispatchEvent(new Event("input"));
      },
      text,
    );
    await page.waitForSelector("#translation p:first-child span:not(.pending)", PATIENCE);
    const begun = await state();
    await page.waitForSelector("#translation[aria-busy=false]", PATIENCE);
    return [begun, await state()];
  },

  async reload() {
    await page.reload();
    return settled();
  },

  /** Waits until the page says that the browser keeps it. */
  async kept() {
    await page.waitForSelector("#offline:not([hidden])", PATIENCE);
  },

  /** Whether the browser can keep the page. */
  async keeps() {
    return page.evaluate(async () => (await import("./offline.js")).keepForOffline());
  },

  /** The value of an expression, or what it resolves to. */
  async look(expression) {
    return page.evaluate(expression);
  },

  /** Moves the pointer over the first word of an element. */
  async pointAt(selector) {
    const { x, y } = await page.locator(selector).first().boundingBox();
    await page.mouse.move(x + 5, y + 5);
  },

  /** Presses keys in an element. */
  async pressIn(selector, keys) {
    await page.press(selector, keys);
  },

  /** What axe-core finds: the names of its rules, with the elements. */
  async findings(script) {
    await page.evaluate(script);
    const { violations } = await page.evaluate(() => axe.run());
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  },

  async text() {
    return page.innerText("body");
  },

  /** The names of the caches that the browser has for the page: one for each version. */
  async versions() {
    return page.evaluate(() => caches.keys());
  },

  /** Waits until the browser has other versions of the page, and one alone. */
  async isReplaced(before) {
    await page.evaluate(async (before) => {
      const replaced = (names) => names.length === 1 && !before.includes(names[0]);
      while (!replaced(await caches.keys())) await new Promise((go) => setTimeout(go, 20));
    }, before);
  },

  /** Chooses an entry of the menu of directions, and waits for the translation. */
  async choose(index) {
    await page.selectOption("#directions", { index });
    await page.waitForSelector("#translation[aria-busy=false]", { ...PATIENCE, state: "attached" });
    return state();
  },

  /** The entries of the menu of directions, if it is shown. */
  async menu() {
    return page.evaluate(() => {
      const menu = document.getElementById("directions");
      return menu.checkVisibility() ? [...menu.options].map(({ text }) => text) : [];
    });
  },

  /** Writes a text, and waits until the first sentence of its translation is there. */
  async begin(text) {
    await page.fill("#source", text);
    await page.waitForSelector("#translation p:first-child span:not(.pending)", PATIENCE);
    return state();
  },

  /** What a function of a module of the page returns for rows of its arguments. */
  async call(script, name, rows) {
    return page.evaluate(
      async ([script, name, rows]) => {
        const module = await import(`./${script}`);
        return rows.map((row) => module[name](...row));
      },
      [script, name, rows],
    );
  },

  /** The same, of a function whose last argument is what is known of a language, by its code. */
  async callKnowing(script, name, rows) {
    return page.evaluate(
      async ([script, name, rows]) => {
        const module = await import(`./${script}`);
        const { abbreviationsOf } = await import("./abbreviations.js");
        return rows.map((row) => module[name](...row.slice(0, -1), abbreviationsOf(row.at(-1))));
      },
      [script, name, rows],
    );
  },

  /** The pieces of each line, as the page splits it. */
  async pieces(lines) {
    return commands.split(await page.$eval("#source", ({ lang }) => lang || null), lines);
  },

  /** The same for another language. */
  async split(language, lines) {
    return page.evaluate(
      async ([language, lines]) => {
        const { sentenceSplitter } = await import("./sentences.js");
        return lines.map(sentenceSplitter(language));
      },
      [language, lines],
    );
  },

  /** Milliseconds from a paste to the first translated sentence, and to the last. */
  async paste(text) {
    return page.evaluate(async (text) => {
      const place = document.getElementById("translation");
      const arrived = (selector) =>
        new Promise((resolve) => {
          const watch = new MutationObserver(() => {
            if (!document.querySelector(selector)) return;
            watch.disconnect();
            requestAnimationFrame(() => resolve(performance.now() - start));
          });
          watch.observe(place, { subtree: true, childList: true, attributes: true });
        });
      const times = [
        arrived("#translation span:not(.pending)"),
        arrived("#translation[aria-busy=false]"),
      ];
      const start = performance.now();
      document.getElementById("source").focus();
      document.execCommand("insertText", false, text);
      return Promise.all(times);
    }, text);
  },

  /** Pastes HTML at the end of the text, and waits for what comes of it. */
  async pasteHtml(html) {
    await page.evaluate((html) => {
      const field = document.getElementById("source");
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/html", html);
      const options = { clipboardData, bubbles: true, cancelable: true };
      self.pasted = !field.dispatchEvent(new ClipboardEvent("paste", options));
    }, html);
    await page.waitForSelector("#translation[aria-busy=false]", { ...PATIENCE, state: "attached" });
    return rich();
  },

  /** Types keys at the beginning of the text, and waits for what comes of it. */
  async typeBefore(text) {
    await page.focus("#source");
    await page.keyboard.press("Control+Home");
    await page.keyboard.type(text);
    await page.waitForSelector("#translation[aria-busy=false]", { ...PATIENCE, state: "attached" });
    return rich();
  },

  /** Copies the translation; what the clipboard then has, by type. */
  async copied() {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("button", { name: "Copied", exact: true }).waitFor(PATIENCE);
    return page.evaluate(async () => {
      const [item] = await navigator.clipboard.read();
      const texts = item.types.map(async (type) => [type, await (await item.getType(type)).text()]);
      return Object.fromEntries(await Promise.all(texts));
    });
  },

  /** What a function of the page returns for rows of arguments, whose nodes are written as HTML. */
  async nodes(name, rows) {
    return page.evaluate(
      async ([name, rows]) => {
        const module = await import("./rich-text.js");
        return rows.map((row) => {
          const holder = document.createElement("div");
          holder.append(...module[name](...row));
          return holder.innerHTML;
        });
      },
      [name, rows],
    );
  },

  /** Where the two panes are, in pixels, and whether their content scrolls inside. */
  async panes() {
    return page.evaluate(() =>
      [".field", "output"].map((selector) => {
        const pane = document.querySelector(selector);
        const { top, bottom, left, right } = pane.getBoundingClientRect();
        return { top, bottom, left, right, scrolls: pane.scrollHeight > pane.clientHeight };
      }),
    );
  },

  async logged() {
    return logged;
  },

  /** Writes a text, and waits for what comes of it. */
  async translate(text) {
    await page.fill("#source", text);
    await page.waitForSelector("#translation[aria-busy=false]", { ...PATIENCE, state: "attached" });
    return state();
  },

  async click(name) {
    await page.getByRole("button", { name, exact: true }).click();
    await page.waitForSelector("#translation[aria-busy=false]", { ...PATIENCE, state: "attached" });
    return state();
  },

  /** Clicks a button that loads the translator again, and waits for what comes of it. */
  async clickAndSettle(name) {
    await page.getByRole("button", { name, exact: true }).click();
    await page.waitForSelector("#status[data-state=loading]", { ...PATIENCE, state: "detached" });
    await page.waitForSelector("#translation[aria-busy=false]", { ...PATIENCE, state: "attached" });
    return settled();
  },

  /** How many elements of a role there are that a screen reader names so. */
  async count(role, name) {
    return page.getByRole(role, { name, exact: true }).count();
  },

  async offline() {
    await context.setOffline(true);
  },

  async requests() {
    return requests;
  },

  async style(selector, property) {
    return page.$eval(
      selector,
      (element, property) => getComputedStyle(element).getPropertyValue(property),
      property,
    );
  },

  /** Types while a long text is translated; milliseconds that the page was never blocked longer. */
  async typeDuring(long, typed) {
    await page.evaluate(() => {
      self.longest = 0;
      let before = performance.now();
      self.ticking = setInterval(() => {
        const now = performance.now();
        self.longest = Math.max(self.longest, now - before);
        before = now;
      }, 1);
    });
    await page.fill("#source", long);
    const started = await page.$eval("#status", (status) => status.dataset.state);
    await page.focus("#source");
    await page.keyboard.press("Control+A");
    await page.keyboard.type(typed);
    const during = await page.evaluate(() => ({
      value: document.querySelector("#source").value,
      state: document.querySelector("#status").dataset.state,
    }));
    await page.waitForSelector("#translation[aria-busy=false]", { ...PATIENCE, state: "attached" });
    const longest = await page.evaluate(() => (clearInterval(self.ticking), self.longest));
    return { started, during, longest, ...(await state()) };
  },

  async screenshot(path, fullPage = false) {
    await page.screenshot({ path, fullPage });
  },
};

async function visit(url, options) {
  await context?.close();
  context = await browser.newContext({ serviceWorkers: "block", ...options });
  page = await context.newPage();
  requests = [];
  logged = [];
  context.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => logged.push(message.text()));
  page.on("pageerror", (error) => logged.push(String(error)));
  await page.goto(url);
}

/** What the page that shows attention looks like. */
async function attention() {
  const found = await page.evaluate(() => {
    const element = (id) => document.getElementById(id);
    const texts = (id) => [...element(id).querySelectorAll("bdi")].map((one) => one.textContent);
    const buttons = [...element("queries").children];
    const luminance = (color) => {
      const parts = color.match(/[\d.]+/g).slice(0, 3).map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const { color, backgroundColor } = getComputedStyle(document.body);
    const [dark, light] = [luminance(color), luminance(backgroundColor)].sort((a, b) => a - b);
    return {
      title: document.querySelector("h1").textContent,
      queries: texts("queries"),
      keys: texts("keys"),
      chosen: buttons.findIndex((button) => button.ariaChecked === "true"),
      focused: document.activeElement.textContent,
      shares: [...element("keys").querySelectorAll("small")].map((one) => parseInt(one.textContent)),
      layer: element("layer").value,
      head: element("head").value,
      said: element("said").textContent,
      direction: getComputedStyle(element("queries")).direction,
      width: document.documentElement.scrollWidth,
      smallest: Math.min(
        ...[...buttons, ...document.querySelectorAll("select")].map(
          (one) => one.getBoundingClientRect().height,
        ),
      ),
      background: backgroundColor,
      contrast: (light + 0.05) / (dark + 0.05),
    };
  });
  return { ...found, requests: requests.length, errors: logged };
}

async function settled() {
  await page.waitForSelector("#status[data-state=ready], #status[data-state=failed]", PATIENCE);
  return state();
}

async function state() {
  return page.evaluate(() => {
    const element = (id) => document.getElementById(id);
    const text = (id) => (element(id).hidden ? null : element(id).textContent);
    return {
      state: element("status").dataset.state,
      status: text("status"),
      failure: text("failure"),
      notice: element("notice").hidden
        ? null
        : [...element("notice").querySelectorAll("li")].map((item) => item.textContent).join("\n"),
      facts: text("facts"),
      title: document.title,
      languages: [element("source").lang, element("translation").lang],
      examples: [...element("examples").children].map((button) => button.textContent),
      source: element("source").value,
      lines: [...element("translation").children].map((line) => line.textContent),
      pending: element("translation").querySelectorAll(".pending").length,
      flagged: [...element("translation").children].flatMap((line, i) =>
        line.querySelector(".flagged") ? [i] : [],
      ),
      copy: element("copy").hidden ? "hidden" : element("copy").disabled ? "disabled" : "enabled",
      directions: [...element("translation").children].map(
        (line) => getComputedStyle(line).direction,
      ),
    };
  });
}

/** The state, and the translation as HTML. */
async function rich() {
  const html = await page.evaluate(() => ({
    pasted: self.pasted,
    html: document.getElementById("translation").innerHTML,
    ran: self.ran ?? null, // What hostile HTML of the tests sets.
  }));
  return { ...(await state()), ...html };
}

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...parameters] = JSON.parse(line);
  let answer;
  try {
    answer = { result: (await commands[name](...parameters)) ?? null };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
