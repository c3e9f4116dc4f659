/** Which files an image of the one file has. Pure. */

export interface OwnFile {
  /** On this machine. */
  readonly source: string;
  /** In the image, without a slash in front. */
  readonly path: string;
  /** The folder in which the loader looks for it. */
  readonly library?: string;
  readonly size?: number;
}

/**
 * The paths of a program's libraries and of its loader, from what the loader says with LD_TRACE_LOADED_OBJECTS (ld.so(8)). Throws for
 * one that was not found.
 */
export function linkedLibraries(said: string): readonly string[] {
  return said.split('\n').flatMap((line) => {
    const [, name = '', found = ''] = /^\s*(\S+) => (.*?)(?: \(0x[0-9a-f]+\))?$/.exec(line) ?? [];
    if (found === 'not found') throw new Error(`library ${name} was not found`);
    if (found.startsWith('/')) return [found];
    const [, loader] = /^\s*(\/\S+) \(0x[0-9a-f]+\)$/.exec(line) ?? [];
    return loader === undefined ? [] : [loader];
  });
}

/** Each library has the path that it has here: the loader is found by it. */
export const ownFiles = (
  program: string,
  target: string,
  libraries: readonly string[],
): readonly OwnFile[] => [
  { source: program, path: target.slice(1) },
  ...libraries.map((path) => ({
    source: path,
    path: path.slice(1),
    library: path.slice(0, path.lastIndexOf('/')),
  })),
];

/** The folders that have to stand in an archive before these paths, and an `etc`. */
export function foldersAbove(paths: readonly string[]): readonly string[] {
  const above = [...paths, 'etc/x'].flatMap((path) => {
    const parts = path.split('/').slice(0, -1);
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  });
  return [...new Set(above)].sort();
}
