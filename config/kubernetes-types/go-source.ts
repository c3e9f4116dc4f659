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
  const structs: GoStruct[] = [];
  const named: GoNamedType[] = [];
  const constants = new Map<string, string[]>();
  let comments: string[] = [];
  /**
   * The comment before the last one, if only a blank line separates them: it may contain markers of a type.
   */
  let earlier: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? '').trim();
    if (line.startsWith('//')) {
      comments.push(line);
      continue;
    }
    if (line === '') {
      earlier = comments;
      comments = [];
      continue;
    }
    const struct = /^type (\w+) struct ?\{(\})?$/.exec(line);
    const simple = /^type (\w+) ([^{}]+)$/.exec(line);
    const constant = /^(?:const )?\w+ +(\w+) += "(.*)"/.exec(line);
    const markers = () => markersOf([...earlier, ...comments]);
    if (struct?.[1]) {
      const end = struct[2] ? at : lines.indexOf('}', at);
      structs.push({ name: struct[1], fields: fieldsIn(lines.slice(at + 1, end)), markers: markers() });
      at = end;
    } else if (simple?.[1] && simple[2]) {
      named.push({ name: simple[1], type: simple[2].replace(/ *\/\/.*$/, ''), markers: markers() });
    } else if (constant?.[1] && constant[2] !== undefined) {
      constants.set(constant[1], [...(constants.get(constant[1]) ?? []), constant[2]]);
    }
    comments = [];
    earlier = [];
  }
  return { imports: importsIn(text), structs, named, constants };
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
    if (declared) {
      const words = declared.split(/\s+/);
      const [name, type] = words.length === 1 ? ['', words[0]] : [words[0], words.slice(1).join(' ')];
      fields.push({ name: name ?? '', type: type ?? '', tags: tagsOf(tags), markers: markersOf(comments) });
    }
    comments = [];
  }
  return fields;
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
