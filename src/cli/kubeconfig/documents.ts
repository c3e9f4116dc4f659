/**
 * Documents of kubeconfig files, and changes of them: a change is made in the file that has the entry, a new
 * entry goes to the default file, as in kubectl. Fields that are not changed are kept. Pure.
 */
import { isRecord, type JsonObject, sortKeys } from '../../apimachinery/equality.ts';
import { formatYaml } from '../../apimachinery/yaml-output/format-yaml.ts';
import { recordAt, recordsAt, textAt } from '../objects/objects.ts';

/** Names of the lists of a kubeconfig, with the field of an entry that holds its value. */
export const entryField = { clusters: 'cluster', users: 'user', contexts: 'context' } as const;

export type EntryList = keyof typeof entryField;

export interface KubeconfigDocument {
  readonly path: string;
  /** Empty for a file that does not exist. */
  readonly document: JsonObject;
  readonly exists: boolean;
  /** Path of the master's admin.conf, if its entries were added to the document. That file is not changed. */
  readonly source?: string;
}

/** The files of a command, in order of precedence. */
export interface KubeconfigDocuments {
  readonly files: readonly KubeconfigDocument[];
  /** Path of the file that gets new entries and the current context. */
  readonly target: string;
  /** True for the one file of --kubeconfig. */
  readonly explicit: boolean;
}

export interface FoundEntry {
  readonly path: string;
  readonly value: JsonObject;
}

/** Returns the entry of the first file that has it. */
export function findEntry(
  { files }: KubeconfigDocuments,
  list: EntryList,
  name: string,
): FoundEntry | undefined {
  for (const { path, document } of files) {
    const entry = recordsAt(document, list).find((one) => textAt(one, 'name') === name);
    if (entry) return { path, value: recordAt(entry, entryField[list]) };
  }
  return undefined;
}

/** Returns the names of all entries of a list, sorted. */
export const entryNames = ({ files }: KubeconfigDocuments, list: EntryList): readonly string[] =>
  [
    ...new Set(files.flatMap(({ document }) => recordsAt(document, list).map((one) => textAt(one, 'name')))),
  ].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** Returns the current context: that of the first file that has one; an empty text for none. */
export const currentContextOf = ({ files }: KubeconfigDocuments): string =>
  files.map(({ document }) => textAt(document, 'current-context')).find((name) => name !== '') ?? '';

/** A file to write, with its new document. */
export interface ChangedDocument {
  readonly path: string;
  readonly document: JsonObject;
}

type Edit = (document: JsonObject) => JsonObject;

/** Changes of several files, each applied to the result of the one before it. */
export class Changes {
  readonly #documents: KubeconfigDocuments;
  readonly #changed = new Map<string, JsonObject>();

  constructor(documents: KubeconfigDocuments) {
    this.#documents = documents;
  }

  edit(path: string, edit: Edit): this {
    const before = this.#documents.files.find((file) => file.path === path)?.document ?? {};
    this.#changed.set(path, edit(this.#changed.get(path) ?? before));
    return this;
  }

  /** Sets an entry in the file `path`; default: in the file that has it, or else in the default file. */
  put(list: EntryList, name: string, value: JsonObject, path?: string): this {
    const target = path ?? findEntry(this.#documents, list, name)?.path ?? this.#documents.target;
    return this.edit(target, (document) => withEntry(document, list, name, value));
  }

  /** Removes an entry from the first file that has it. An entry of the same name in a later file stays. */
  remove(list: EntryList, name: string): this {
    const found = findEntry(this.#documents, list, name);
    if (!found) return this;
    return this.edit(found.path, (document) => ({
      ...document,
      [list]: recordsAt(document, list).filter((one) => textAt(one, 'name') !== name),
    }));
  }

  /**
   * Sets the current context in the default file, unless it is current already; an empty name clears it in
   * the first file that has one, since an empty text in another file would be ignored.
   */
  use(name: string): this {
    const { files, target, explicit } = this.#documents;
    if (name !== '' && name === currentContextOf(this.#documents)) return this;
    const clears = name === '' && !explicit;
    const holder = files.find(({ document }) => textAt(document, 'current-context') !== '');
    if (clears && !holder) return this;
    const path = clears && holder ? holder.path : target;
    return this.edit(path, (document) => ({ ...document, 'current-context': name }));
  }

  /** Returns the files whose documents differ from before. */
  list(): readonly ChangedDocument[] {
    const textOf = (path: string) => {
      const file = this.#documents.files.find((one) => one.path === path);
      return file?.exists ? kubeconfigText(file.document) : undefined;
    };
    return [...this.#changed]
      .map(([path, document]) => ({ path, document }))
      .filter(({ path, document }) => textOf(path) !== kubeconfigText(document));
  }
}

function withEntry(document: JsonObject, list: EntryList, name: string, value: JsonObject): JsonObject {
  const entries = recordsAt(document, list);
  const at = entries.findIndex((one) => textAt(one, 'name') === name);
  const entry = { ...(at >= 0 ? entries[at] : { name }), [entryField[list]]: value };
  return { ...document, [list]: at >= 0 ? entries.with(at, entry) : [...entries, entry] };
}

/** Returns the text of a file as kubectl writes it: keys and entries sorted, empty lists as null. */
export function kubeconfigText(document: JsonObject): string {
  const lists = Object.keys(entryField).map((list) => {
    const entries = recordsAt(document, list).toSorted((a, b) =>
      textAt(a, 'name') < textAt(b, 'name') ? -1 : textAt(a, 'name') > textAt(b, 'name') ? 1 : 0,
    );
    return [list, entries.length > 0 ? entries : null];
  });
  const { apiVersion = 'v1', kind = 'Config', preferences } = document;
  const whole = {
    ...document,
    ...Object.fromEntries(lists),
    apiVersion,
    kind,
    preferences: isRecord(preferences) ? preferences : {},
    'current-context': textAt(document, 'current-context'),
  };
  return formatYaml(sortKeys(whole));
}
