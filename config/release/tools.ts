/** The programs that build a release and that a machine may lack. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Architecture, emulatorFor, gnuProgram } from '../build/architecture.ts';

const run = promisify(execFile);

/** Throws an Error that names the first missing program and how to get it. */
export async function requireTools(arch: Architecture): Promise<void> {
  const [emulator] = emulatorFor(arch);
  const needed = ['gcc', 'strip', 'objcopy', 'objdump'].map((name) => gnuProgram(arch, name));
  for (const program of [...needed, ...(emulator === undefined ? [] : [emulator])]) {
    try {
      await run(program, ['--version']);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') throw error;
      throw new Error(`${program} is missing, which the release for ${arch} needs; run bin/setup --release`);
    }
  }
}
