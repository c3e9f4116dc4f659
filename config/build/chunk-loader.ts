/** Loads modules from packs (chunks.ts), in the packaged file and where its code caches are made. */
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

export interface PackFiles {
  /** Returns the source of a pack. */
  source(pack: string): string;
  /** Returns the code that V8 compiled from it; undefined if there is none. */
  cache(pack: string): Buffer | undefined;
  /** Receives each script that was compiled. */
  readonly onScript?: (pack: string, script: Script) => void;
}

interface Module {
  readonly exports: object;
}

type Chunk = (exports: object, require: (name: string) => unknown, module: Module) => void;

interface Pack {
  readonly index?: {
    /** Chunks by the modules that are loaded by name. */
    readonly entries: Readonly<Record<string, string>>;
    /** Packs by chunks. */
    readonly packs: Readonly<Record<string, string>>;
  };
  readonly chunks: Readonly<Record<string, Chunk>>;
}

export class ChunkLoader {
  readonly #files: PackFiles;
  readonly #packs = new Map<string, Pack>();
  readonly #index: NonNullable<Pack['index']>;
  readonly #modules = new Map<string, Module>();
  readonly #node = createRequire(process.execPath);

  /** `first` is the pack with the index. */
  constructor(files: PackFiles, first: string) {
    this.#files = files;
    const { index } = this.#pack(first);
    if (!index) throw new Error(`the pack ${first} has no index`);
    this.#index = index;
  }

  /** Returns the module with a name such as `src/cli/ctl.ts`; undefined if no pack has it. */
  load(name: string): unknown {
    const chunk = this.#index.entries[name];
    return chunk === undefined ? undefined : this.#chunk(chunk);
  }

  /** Loads every chunk. */
  loadAll(): void {
    for (const chunk of Object.keys(this.#index.packs)) this.#chunk(chunk);
  }

  #chunk(chunk: string): object {
    const known = this.#modules.get(chunk);
    if (known) return known.exports;
    const pack = this.#index.packs[chunk];
    const run = pack === undefined ? undefined : this.#pack(pack).chunks[chunk];
    if (!run) throw new Error(`the executable has no code named ${chunk}`);
    const module: Module = { exports: {} };
    this.#modules.set(chunk, module);
    run(module.exports, this.#require, module);
    return module.exports;
  }

  readonly #require = (name: string): unknown =>
    name.startsWith('./') ? this.#chunk(name.slice(2).replace(/\.js$/, '')) : this.#node(name);

  #pack(name: string): Pack {
    const known = this.#packs.get(name);
    if (known) return known;
    const cachedData = this.#files.cache(name);
    const options = { filename: 'minik8s', ...(cachedData && { cachedData }) };
    const script = new Script(this.#files.source(name), options);
    this.#files.onScript?.(name, script);
    const pack = script.runInThisContext() as Pack;
    this.#packs.set(name, pack);
    return pack;
  }
}
