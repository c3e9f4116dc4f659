/**
 * Messages of the runtimes' programs about a function that cannot be loaded: file, line and cause come first.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Runtime, startFunction } from '../../../../fixtures/function-program.ts';

/** Returns the output and the termination log. */
async function saidOf(runtime: Runtime, files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'minik8s-termination-'));
  const log = join(folder, 'log');
  await writeFile(log, '');
  const program = await startFunction(runtime, files, { FUNCTION_TERMINATION_LOG: log });
  try {
    assert.equal(await program.ended, 1);
    return { printed: program.output.tail, log: await readFile(log, 'utf8') };
  } finally {
    await program.close();
    await rm(folder, { recursive: true });
  }
}

const cases: readonly [what: string, Runtime, Readonly<Record<string, string>>, RegExp][] = [
  [
    'a syntax error',
    'python',
    { 'main.py': '\n\ndef handler(event)\n    return 1\n' },
    /^main\.py:3: SyntaxError: expected ':'\n/,
  ],
  [
    'a syntax error in another file',
    'python',
    { 'main.py': 'from lib import texts\n', 'lib/texts.py': 'a = 1\nb = (\n' },
    /^lib\/texts\.py:2: SyntaxError: /,
  ],
  [
    'a library that is missing',
    'python',
    { 'main.py': '\nimport nosuch\n' },
    /^main\.py:2: ModuleNotFoundError: No module named 'nosuch'\n/,
  ],
  [
    'a syntax error',
    'nodejs',
    { 'main.mjs': '\nexport const handler = 1;\nconst b = ;\n' },
    /^main\.mjs:3: SyntaxError: Unexpected token ';'/,
  ],
  [
    'a syntax error in CommonJS',
    'nodejs',
    { 'main.cjs': '\nconst b = ;\n' },
    /^main\.cjs:2: SyntaxError: Unexpected token ';'/,
  ],
  [
    'a syntax error in another file',
    'nodejs',
    {
      'main.mjs': "import './lib/texts.mjs';\n",
      'lib/texts.mjs': 'const a = 1;\nconst b = ;\n',
    },
    /^lib\/texts\.mjs:2: SyntaxError: /,
  ],
  [
    'an error while it is loaded',
    'nodejs',
    { 'main.mjs': '\n\nthrow new TypeError("no table");\n' },
    /^main\.mjs:3: TypeError: no table\n/,
  ],
];
for (const [what, runtime, files, expected] of cases)
  describe(`${runtime}: ${what}`, () => {
    it("is reported with file, line and cause, and without lines of the runtime's own code", async () => {
      const { printed, log } = await saidOf(runtime, files);
      for (const text of [printed, log]) {
        assert.match(text, expected);
        assert.doesNotMatch(text, /importlib|run\.py|node:internal|run\.mjs/);
      }
    });
  });
