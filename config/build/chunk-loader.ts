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
    /** Names of the exports of chunks that are loaded when an export is first used, by chunk. */
    readonly late: Readonly<Record<string, readonly string[]>>;
  };
  readonly chunks: Readonly<Record<string, Chunk>>;
}

/** Modules of Node that cost a millisecond or more of processor time, and that most commands do without. */
const lateModules: ReadonlySet<string> = new Set(
  ['child_process', 'crypto', 'fs/promises', 'http', 'https', 'net', 'tls', 'zlib'].map(
    (name) => `node:${name}`,
  ),
);

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

  readonly #require = (name: string): unknown => {
    if (!name.startsWith('./')) return this.#nodeModule(name);
    const chunk = name.slice(2).replace(/\.js$/, '');
    const names = this.#modules.has(chunk) ? undefined : this.#index.late[chunk];
    return names ? this.#later(chunk, names) : this.#chunk(chunk);
  };

  /** Returns an object with the exports of a chunk, which is loaded when one of them is first read. */
  #later(chunk: string, names: readonly string[]): object {
    const exports = {};
    for (const name of names) {
      const get = () => (this.#chunk(chunk) as Record<string, unknown>)[name];
      Object.defineProperty(exports, name, { get, enumerable: true });
    }
    return exports;
  }

  /** Returns a module of Node; an expensive one is loaded when one of its exports is first read. */
  #nodeModule(name: string): unknown {
    if (!lateModules.has(name)) return this.#node(name);
    const load = () => this.#node(name) as object;
    return new Proxy(
      {},
      {
        get: (_, key) => Reflect.get(load(), key),
        has: (_, key) => Reflect.has(load(), key),
        ownKeys: () => Reflect.ownKeys(load()),
        getOwnPropertyDescriptor: (_, key) => {
          const own = Reflect.getOwnPropertyDescriptor(load(), key);
          return own && { ...own, configurable: true };
        },
      },
    );
  }

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
