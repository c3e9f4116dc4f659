/** The files in the image of the single-file program. Pure. */

export interface OwnFile {
  /** Path on this machine. */
  readonly source: string;
  /** Path in the image, without a leading slash. */
  readonly path: string;
  /** The folder in which the loader looks for it. */
  readonly library?: string;
  readonly size?: number;
}

/**
 * Returns the paths of a program's libraries and of its loader, from the loader's output with
 * LD_TRACE_LOADED_OBJECTS (ld.so(8)). Throws for a library that was not found.
 */
export function linkedLibraries(loaderOutput: string): readonly string[] {
  return loaderOutput.split('\n').flatMap((line) => {
    const [, name = '', found = ''] = /^\s*(\S+) => (.*?)(?: \(0x[0-9a-f]+\))?$/.exec(line) ?? [];
    if (found === 'not found') throw new Error(`library ${name} was not found`);
    if (found.startsWith('/')) return [found];
    const [, loader] = /^\s*(\/\S+) \(0x[0-9a-f]+\)$/.exec(line) ?? [];
    return loader === undefined ? [] : [loader];
  });
}

/** Returns the files; each library keeps its path, by which the loader finds it. */
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

/** Returns the folders that an archive needs before these paths, and `etc`. */
export function foldersAbove(paths: readonly string[]): readonly string[] {
  const above = [...paths, 'etc/x'].flatMap((path) => {
    const parts = path.split('/').slice(0, -1);
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  });
  return [...new Set(above)].sort();
}
