/** Equivalent mutants of the node's part of functions, and of its devices. */
import type { Equivalent } from '../equivalent.ts';

type Lines = readonly (readonly [line: string, change: string])[];

const of = (name: string, because: string, lines: Lines): Equivalent[] =>
  lines.map(([line, change]) => ({ file: `src/${name}`, line, change, because }));

const compiler = 'it is always there; only its type does not say so, and the compiler asks';

export const nodeFunctions: readonly Equivalent[] = [
  ...of(
    'features/functions/agent/build-engine.ts',
    'an untagged image has this name alone: it begins and ends with it',
    [
      [
        "if (!RepoTags?.some((name) => !name.startsWith('<none>')))",
        "name.startsWith('<none>') → name.endsWith('<none>')",
      ],
    ],
  ),
  ...of('features/functions/agent/build-engine.ts', 'no image has a name that its label does not say', [
    [
      "const image = Labels?.[imageLabels.of] ?? '';",
      "Labels?.[imageLabels.of] ?? '' → (Labels?.[imageLabels.of])",
    ],
    ["const image = Labels?.[imageLabels.of] ?? '';", "'' → 'mutated'"],
  ]),
  ...of(
    'features/functions/agent/build-engine.ts',
    'a socket ends its side once the engine has ended the other',
    [['(output as Duplex).end();', '(output as Duplex).end(); → ;']],
  ),
  ...of('features/functions/agent/function-builder.ts', compiler, [
    [
      'const fault = version.spec.runtime && lockFault(version.spec.runtime, lock);',
      'version.spec.runtime && lockFault(version.spec.runtime, lock) → (lockFault(version.spec.runtime, lock))',
    ],
    ['return status?.lock ?? made;', 'status?.lock ?? made → (status?.lock)'],
  ]),
  ...of(
    'features/functions/agent/function-builder.ts',
    'none of these texts is JSON, and the message does not show it',
    [
      [
        "readLock: async (installed) => lock ?? lockOfReport((await installed.file('report.json')) ?? ''),",
        "'' → 'mutated'",
      ],
      [
        "readLock: async (installed) => lock ?? lockOfReport((await installed.file('report.json')) ?? ''),",
        "(await installed.file('report.json')) ?? '' → ((await installed.file('report.json')))",
      ],
      [
        "lock ?? locked ?? portableLock((await installed.file('package-lock.json')) ?? ''),",
        "(await installed.file('package-lock.json')) ?? '' → ((await installed.file('package-lock.json')))",
      ],
      [
        "lock ?? locked ?? portableLock((await installed.file('package-lock.json')) ?? ''),",
        "'' → 'mutated'",
      ],
    ],
  ),
  ...of(
    'features/functions/agent/function-chores.ts',
    'only errors of the engine have a reason; the compiler asks',
    [
      [
        "if (error instanceof RuntimeError && error.reason === 'Conflict') return;",
        "error instanceof RuntimeError && error.reason === 'Conflict' → (error.reason === 'Conflict')",
      ],
    ],
  ),
  ...of('features/functions/agent/function-images.ts', compiler, [
    [
      "const name = metadata.labels?.[functionVersionLabel] ?? '';",
      "metadata.labels?.[functionVersionLabel] ?? '' → (metadata.labels?.[functionVersionLabel])",
    ],
    ["const name = metadata.labels?.[functionVersionLabel] ?? '';", "'' → 'mutated'"],
    ["const { runtime, baseImage: image = '' } = spec;", "'' → 'mutated'"],
  ]),
  ...of('features/functions/agent/function-images.ts', 'a text without a line break is not shown', [
    ["const lines = failure instanceof BuildError ? log.message : '';", "'' → 'mutated'"],
  ]),
  ...of(
    'features/functions/agent/function-images.ts',
    'other errors do not have what the engine said; the compiler asks',
    [
      [
        '(failure instanceof RuntimeError ? failure.engineMessage : undefined) ?? errorMessage(failure);',
        'failure instanceof RuntimeError → true',
      ],
    ],
  ),
  ...of(
    'features/functions/agent/own-image.ts',
    'both ways read the same bytes of a file that does not change',
    [
      [
        'if (size < 16 * 1024 ** 2) yield exactly(await readFile(source), size, source);',
        'size < 16 * 1024 ** 2 → size <= 16 * 1024 ** 2',
      ],
      ['if (size < 16 * 1024 ** 2) yield exactly(await readFile(source), size, source);', '16 → 17'],
      ['if (size < 16 * 1024 ** 2) yield exactly(await readFile(source), size, source);', '1024 → 1025'],
    ],
  ),
  ...of('features/functions/agent/version-status.ts', compiler, [
    ["const { name, namespace = '', uid } = metadata;", "'' → 'mutated'"],
  ]),
  ...of('kubelet/devices/device-manager.ts', 'a JSON text is read from its bytes as well', [
    ["const value: unknown = JSON.parse(await readFile(this.#file, 'utf8'));", "'utf8' → ''"],
  ]),
  ...of(
    'kubelet/devices/kernel-log.ts',
    'a reader of a file reads no standard input, and errors are read from a pipe by default',
    [
      [
        "const child = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' });",
        "'ignore', → (nothing)",
      ],
      [
        "const child = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' });",
        "'pipe' → (nothing)",
      ],
    ],
  ),
  ...of('features/functions/agent/machine-settings.ts', 'a function that ends without a result has none', [
    ['return undefined;', 'return undefined; → ;'],
  ]),
];
