/**
 * The client in chunks: modules that the same commands need are one chunk (esbuild's code splitting), so a
 * command reads only its own code. Chunks are stored in packs. A pack is a script with one code cache. The
 * chunks of a group share a pack, since they are loaded together; each other chunk has a pack of its own.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Metafile, transform } from 'esbuild';

export interface PackGroup {
  readonly name: string;
  /** Modules whose chunks are in the pack, unless an earlier group has them. */
  readonly modules: readonly string[];
}

export interface ChunkOptions {
  readonly common: BuildOptions;
  readonly outdir: string;
  /** Modules that can be loaded by name. */
  readonly entries: readonly string[];
  /** The first group also has the index. */
  readonly groups: readonly PackGroup[];
  /**
   * Modules whose chunks are loaded when one of their exports is first used, with all that only they import.
   * They must have no effects when they are loaded, apart from their exports. A chunk that has another module
   * as well is loaded at once: esbuild puts modules together that the same entries need.
   */
  readonly late: readonly string[];
}

/** Writes the packs to `outdir`, and returns their paths by name. Throws esbuild's errors. */
export async function makeChunks(options: ChunkOptions): Promise<Readonly<Record<string, string>>> {
  const { outdir, entries, groups } = options;
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  const { sources, graph } = await split(options);
  const packOf = packsOf([...sources.keys()].sort(), graph, groups);
  const index = {
    entries: Object.fromEntries([...entries].sort().map((entry) => [entry, chunkOf(graph, entry)])),
    packs: Object.fromEntries(packOf),
    late: Object.fromEntries([...graph.late].sort()),
  };
  const paths: Record<string, string> = {};
  for (const pack of new Set(packOf.values())) {
    const chunks = [...sources].filter(([chunk]) => packOf.get(chunk) === pack);
    const functions = chunks.map(([chunk, source]) => `${JSON.stringify(chunk)}:${source}`);
    const isFirst = pack === groups[0]?.name;
    const text = `({${isFirst ? `index:${JSON.stringify(index)},` : ''}chunks:{${functions.join(',\n')}}})`;
    const path = join(outdir, `${pack}.cjs`);
    await writeFile(path, text);
    paths[pack] = path;
  }
  return paths;
}

interface Graph {
  /** Chunks that each chunk imports, except those that it loads on demand. */
  readonly imports: ReadonlyMap<string, readonly string[]>;
  /** The chunk of each module that is an entry. */
  readonly entries: ReadonlyMap<string, string>;
  /** Names of the exports of chunks without eager modules, by chunk. */
  readonly late: ReadonlyMap<string, readonly string[]>;
}

/** Resolves to the chunks as functions, by name and sorted, and to what they import. */
async function split({ common, outdir, entries, late }: ChunkOptions) {
  const { outputFiles, metafile } = await build({
    ...common,
    supported: {},
    format: 'esm',
    splitting: true,
    metafile: true,
    write: false,
    // Every late module is an entry, too, so that no other module is in a chunk with it.
    entryPoints: [...entries, ...late].sort(),
    outdir,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
  });
  const sources = new Map<string, string>();
  const files = outputFiles.map(({ path, text }) => [basename(path, '.js'), text] as const);
  for (const [name, text] of files.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    sources.set(name, await asFunction(text));
  return { sources, graph: graphOf(metafile, eagerModules(metafile, entries, late)) };
}

/** Makes a chunk a function of `exports`, `require` and `module`. */
async function asFunction(text: string): Promise<string> {
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node26',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    supported: { 'dynamic-import': false },
  });
  return `function(exports,require,module){${code}}`;
}

/**
 * Returns the modules that the entries import, directly or not, without those that only late modules import.
 */
function eagerModules(
  { inputs }: Metafile,
  entries: readonly string[],
  late: readonly string[],
): ReadonlySet<string> {
  const eager = new Set(entries);
  for (const module of eager)
    for (const { path } of inputs[module]?.imports ?? []) if (!late.includes(path)) eager.add(path);
  return eager;
}

function graphOf({ outputs }: Metafile, eager: ReadonlySet<string>): Graph {
  const imports = new Map<string, readonly string[]>();
  const entries = new Map<string, string>();
  const late = new Map<string, readonly string[]>();
  for (const [path, output] of Object.entries(outputs)) {
    const chunk = basename(path, '.js');
    const modules = Object.keys(output.inputs);
    if (modules.length > 0 && !modules.some((module) => eager.has(module))) late.set(chunk, output.exports);
    const needed = output.imports.filter(({ kind, external }) => kind === 'import-statement' && !external);
    imports.set(
      chunk,
      needed.map((one) => basename(one.path, '.js')),
    );
    if (output.entryPoint) entries.set(output.entryPoint, chunk);
  }
  return { imports, entries, late };
}

function chunkOf({ entries }: Graph, module: string): string {
  const chunk = entries.get(module);
  if (chunk === undefined) throw new Error(`${module} is not loaded by name, so it has no chunk of its own`);
  return chunk;
}

/** Returns the pack of each chunk. */
function packsOf(chunks: readonly string[], graph: Graph, groups: readonly PackGroup[]): Map<string, string> {
  const packs = new Map<string, string>();
  for (const { name, modules } of groups) {
    const needed = neededChunks(modules, graph);
    for (const chunk of needed) if (!packs.has(chunk)) packs.set(chunk, name);
  }
  for (const chunk of chunks) if (!packs.has(chunk)) packs.set(chunk, chunk);
  return packs;
}

/** Returns the chunks of the modules, and all that these import, except what is loaded late. */
function neededChunks(modules: readonly string[], graph: Graph): ReadonlySet<string> {
  const needed = new Set(modules.map((module) => chunkOf(graph, module)));
  for (const chunk of needed) {
    const imports = graph.imports.get(chunk) ?? [];
    for (const one of imports) if (!graph.late.has(one)) needed.add(one);
  }
  return needed;
}
