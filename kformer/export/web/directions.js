// The menu of a translator that translates in several directions.

import { messageOf, nameOfLanguage } from "./messages.js";

// Two codes, perhaps with a script and a region, as "zh-Hans-en" and "pt-BR-de".
const CODE = "\\w+(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?";
const DIRECTION = new RegExp(`^(${CODE})-(${CODE})$`);

/** Returns the codes of source and target of a direction. */
export function codesOf(direction) {
  return DIRECTION.exec(direction)?.slice(1) ?? direction.split("-", 2);
}

/** The source of a direction from the language of the text, whichever it is. */
export const AUTO = "auto";

/**
 * Returns the directions to choose from, the trained ones first.
 * @param {Object} metadata - `target_languages` are codes, or an object with codes as its keys;
 *     `directions`, such as ["de-en", "en-de"], are those of the training text, if they are known;
 *     `detects` is whether the engine detects languages: then there is one from `AUTO` into each
 *     target of several directions.
 * @returns {{source: ?string, target: ?string, isTrained: boolean}[]} at least one.
 */
export function directionsOf(metadata) {
  const named = namedDirections(metadata);
  if (!metadata.detects) return named;
  const targets = named.filter(({ isTrained }) => isTrained).map(({ target }) => target);
  const several = new Set(targets.filter((target, i) => targets.indexOf(target) < i));
  return [...named, ...[...several].map((target) => ({ source: AUTO, target, isTrained: true }))];
}

function namedDirections({ source_language, target_language, target_languages, directions }) {
  const source = source_language ?? null;
  const codes = Array.isArray(target_languages) ? target_languages : Object.keys(target_languages ?? {});
  const targets = codes.length ? codes : [target_language ?? null];
  const trained = (directions ?? []).map(codesOf);
  if (!trained.length) return targets.map((target) => ({ source, target, isTrained: true }));
  const sources = [...new Set(trained.map(([code]) => code))];
  const others = sources
    .flatMap((from) => targets.map((to) => [from, to]))
    .filter(([from, to]) => to && from !== to && !directions.includes(`${from}-${to}`));
  return [
    ...trained.map(([from, to]) => ({ source: from, target: to, isTrained: true })),
    ...others.map(([from, to]) => ({ source: from, target: to, isTrained: false })),
  ];
}

/** Returns a direction in words, such as "German to English". */
export function nameOf({ source, target, isTrained }) {
  const to = nameOfLanguage(target) ?? messageOf("other language");
  const from = source === AUTO ? messageOf("detect") : nameOfLanguage(source);
  const direction = from ? messageOf("direction", { from, to }) : messageOf("direction to", { to });
  return isTrained ? direction : messageOf("direction untrained", { direction });
}

/** Returns the direction that leads back, if the model was trained in it. */
export function reverseOf({ source, target }, directions) {
  return directions.find((each) => each.isTrained && source && each.source === target && each.target === source);
}

/** Fills a menu with directions and shows it, if there are several; `choose` is called with one. */
export function fillMenu(menu, directions, choose) {
  const options = directions.map((direction, i) => new Option(nameOf(direction), i));
  menu.replaceChildren(...options);
  menu.hidden = options.length < 2;
  menu.onchange = () => choose(directions[menu.value]);
}
