/** Makes the Node program inside the one file: without symbols, and without the need for libatomic.so.1. */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Architecture, gnuProgram } from './architecture.ts';
import { withoutLibatomic } from './without-libatomic.ts';

const run = promisify(execFile);
const compareExchange = join(import.meta.dirname, 'compare-exchange.c');

interface NodeRuntime {
  /** Path of Node's binary in its npm package. */
  readonly node: string;
  readonly arch: Architecture;
  readonly target: string;
}

/** Files of which the runtime is made. */
export function nodeRuntimeSources(node: string): readonly string[] {
  return [node, compareExchange, join(import.meta.dirname, 'without-libatomic.ts'), import.meta.filename];
}

/** Writes the runtime to `target`. */
export async function makeNodeRuntime({ node, arch, target }: NodeRuntime): Promise<void> {
  await copyFile(node, target);
  await run(gnuProgram(arch, 'strip'), [target]);
  await writeFile(target, withoutLibatomic(await readFile(target), await compareExchangeCode(arch)));
}

/** Returns the machine code of compare-exchange.c. Throws the errors of gcc and objcopy. */
export async function compareExchangeCode(arch: Architecture): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'minik8s-build-'));
  try {
    const [object, code] = [join(folder, 'code.o'), join(folder, 'code')];
    const freestanding = [
      '-ffreestanding',
      '-fno-reorder-blocks-and-partition',
      '-fno-stack-protector',
      '-fno-asynchronous-unwind-tables',
      '-fPIC',
      // The compiler would call a function that chooses the instruction by the processor.
      ...(arch === 'arm64' ? ['-mno-outline-atomics'] : []),
    ];
    await run(gnuProgram(arch, 'gcc'), [
      '-c',
      '-Os',
      '-Wall',
      '-Werror',
      ...freestanding,
      '-o',
      object,
      compareExchange,
    ]);
    const { stdout } = await run(gnuProgram(arch, 'objdump'), ['--reloc', '--section=.text', object]);
    if (/\bR_[A-Z\d]+_/.test(stdout)) throw new Error(`${compareExchange} depends on its address`);
    await run(gnuProgram(arch, 'objcopy'), ['--output-target=binary', '--only-section=.text', object, code]);
    return await readFile(code);
  } finally {
    await rm(folder, { recursive: true });
  }
}
