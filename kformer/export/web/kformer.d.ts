// Types of kformer.js and kformer-node.js.

/** Signs of a translation that may be wrong; a newer file may have others. */
export type Flag =
  | "source split"
  | "source cut"
  | "translation cut"
  | "length limit"
  | "loop"
  | "length ratio"
  | "number missed"
  | "address missed"
  | "placeholder missed"
  | "bracket missed"
  | "unknown characters"
  | "copied"
  | "unsure"
  | (string & {});

/** Two languages; a code is null if the file does not name the language. */
export interface Direction {
  source: string | null;
  target: string | null;
  /** Whether the training text had this direction. */
  isTrained: boolean;
}

export interface TranslatedSentence {
  source: string;
  text: string;
  flags: Flag[];
  /** Estimate of the chrF, from 0 to 1; absent if the file has no estimate. */
  quality?: number;
}

export interface Translation {
  text: string;
  /** All flags of the sentences. */
  flags: Flag[];
  lines: { text: string; sentences: TranslatedSentence[] }[];
}

export interface Progress {
  stage: "loading" | "starting";
  /** Bytes of the .tflite file, while it is loaded; `total` is 0 if the server does not send it. */
  loaded?: number;
  total?: number;
}

export interface LoadOptions {
  /** Called in browsers only. */
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

export interface TranslateOptions {
  /** Code of the language of the text; by default that of the first direction. */
  source?: string;
  /** Code of the language of the translation; by default that of the first direction. */
  target?: string;
  /** Stops the translation between two sentences. */
  signal?: AbortSignal;
}

/** A translator in a .tflite file: in a worker of a browser, or in the thread of Node.js. */
export class Translator {
  private constructor();

  /**
   * Loads a .tflite file: by default the one beside this module. An address is relative to the
   * document; in Node.js it may be a path.
   *
   * Rejects with a `TranslatorError`.
   */
  static load(url?: string | URL, options?: LoadOptions): Promise<Translator>;

  /** The file's `kformer.json`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Sentences to try. */
  readonly examples: readonly string[];
  /** Bytes of the file. */
  readonly size: number;
  /** The directions that `translate` takes, the trained ones first; at least one. */
  readonly directions: readonly Direction[];

  /** Returns the translation of a text. Line breaks stay. */
  translate(text: string, options?: TranslateOptions): Promise<string>;

  /** Returns the translation of a text with that of each sentence and its flags. */
  translation(text: string, options?: TranslateOptions): Promise<Translation>;

  /** Frees the memory. */
  close(): void;
}

/** Why a translator could not be loaded, or failed. */
export class TranslatorError extends Error {
  readonly code: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * `<kformer-translator src="translator.tflite" source="de" target="en">`, in browsers only.
 *
 * Events: "ready", "translated", and "error" with the property `error`.
 */
export class TranslatorElement extends HTMLElement {
  /** The text to translate. */
  value: string;
  /** The translation. */
  readonly translation: string;
  /** Null until the event "ready". */
  readonly translator: Translator | null;
}

declare global {
  interface HTMLElementTagNameMap {
    "kformer-translator": TranslatorElement;
  }
}
