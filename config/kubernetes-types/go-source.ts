/**
 * Reads the declarations of types in a Go file: the part of the language that Kubernetes' types.go files use.
 * Comments are read only for their markers (`+optional`, `+listType=map`).
 */

export interface GoField {
  /** Empty for an embedded type. */
  readonly name: string;
  /** Type as it is written, such as `*int32`, `[]v1.Container`. */
  readonly type: string;
  /** Text between the quotes, by key such as `json`. */
  readonly tags: ReadonlyMap<string, string>;
  readonly markers: Markers;
}

/**
 * Values by name without `+`; a repeated marker has several values, a marker without `=` has an empty text.
 */
export type Markers = ReadonlyMap<string, readonly string[]>;

export interface GoStruct {
  readonly name: string;
  readonly fields: readonly GoField[];
  readonly markers: Markers;
}

/** A declaration such as `type RestartPolicy string`. */
export interface GoNamedType {
  readonly name: string;
  readonly type: string;
  readonly markers: Markers;
}

export interface GoFile {
  /** Paths of packages by their names in the file. */
  readonly imports: ReadonlyMap<string, string>;
  readonly structs: readonly GoStruct[];
  readonly named: readonly GoNamedType[];
  /** Texts of constants by the name of their type, in the order of the file. */
  readonly constants: ReadonlyMap<string, readonly string[]>;
}

export function readGo(text: string): GoFile {
  const lines = text.replace(/\/\*[\s\S]*?\*\//g, '').split('\n');
  const reader = new DeclarationReader();
  for (let at = 0; at < lines.length; at++) at = reader.read(lines, at);
  const { structs, named, constants } = reader;
  return { imports: importsIn(text), structs, named, constants };
}

class DeclarationReader {
  readonly structs: GoStruct[] = [];
  readonly named: GoNamedType[] = [];
  readonly constants = new Map<string, string[]>();
  #comments: string[] = [];
  /**
   * The comment before the last one, if only a blank line separates them: it may contain markers of a type.
   */
  #earlier: string[] = [];

  /** Reads the line, or the whole struct that begins with it; returns the index of the last line read. */
  read(lines: readonly string[], at: number): number {
    const line = (lines[at] ?? '').trim();
    if (line.startsWith('//')) {
      this.#comments.push(line);
      return at;
    }
    if (line === '') {
      this.#earlier = this.#comments;
      this.#comments = [];
      return at;
    }
    const markers = markersOf([...this.#earlier, ...this.#comments]);
    this.#comments = [];
    this.#earlier = [];
    const [, name, ends] = /^type (\w+) struct ?\{(\})?$/.exec(line) ?? [];
    if (name === undefined) {
      this.#readLine(line, markers);
      return at;
    }
    const end = ends ? at : lines.indexOf('}', at);
    this.structs.push({ name, fields: fieldsIn(lines.slice(at + 1, end)), markers });
    return end;
  }

  #readLine(line: string, markers: Markers): void {
    const [, name, type] = /^type (\w+) ([^{}]+)$/.exec(line) ?? [];
    if (name && type) this.named.push({ name, type: type.replace(/ *\/\/.*$/, ''), markers });
    const [, ofType, value] = /^(?:const )?\w+ +(\w+) += "(.*)"/.exec(line) ?? [];
    if (ofType && value !== undefined)
      this.constants.set(ofType, [...(this.constants.get(ofType) ?? []), value]);
  }
}

function fieldsIn(lines: readonly string[]): GoField[] {
  const fields: GoField[] = [];
  let comments: string[] = [];
  for (const text of lines) {
    const line = text.trim();
    if (line.startsWith('//')) {
      comments.push(line);
      continue;
    }
    const [, declared = '', tags = ''] = /^([^`]*?) *`([^`]*)`/.exec(line) ?? [];
    // A field without tags is not part of the API.
    if (declared) fields.push({ ...nameAndType(declared), tags: tagsOf(tags), markers: markersOf(comments) });
    comments = [];
  }
  return fields;
}

/** Splits `Name Type`; an embedded struct has only a type. */
function nameAndType(declared: string): Pick<GoField, 'name' | 'type'> {
  const [first = '', ...others] = declared.split(/\s+/);
  return others.length === 0 ? { name: '', type: first } : { name: first, type: others.join(' ') };
}

const tagsOf = (text: string) =>
  new Map([...text.matchAll(/(\w+):"([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]));

function markersOf(comments: readonly string[]): Markers {
  const markers = new Map<string, string[]>();
  for (const comment of comments) {
    const [, name, value = ''] = /^\/\/ *\+([\w:]+)(?:=(.*))?$/.exec(comment) ?? [];
    if (name) markers.set(name, [...(markers.get(name) ?? []), value.trim()]);
  }
  return markers;
}

function importsIn(text: string): ReadonlyMap<string, string> {
  const block = /^import \(([\s\S]*?)^\)/m.exec(text)?.[1] ?? /^import (.*)$/m.exec(text)?.[1] ?? '';
  return new Map(
    [...block.matchAll(/^\s*(\w+)? *"([^"]+)"/gm)].map(([, name, path = '']) => [
      name ?? path.slice(path.lastIndexOf('/') + 1),
      path,
    ]),
  );
}
