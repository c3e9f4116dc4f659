/** Equivalent mutants of the node agent. */
import type { Equivalent } from '../equivalent.ts';

type Lines = readonly (readonly [line: string, change: string])[];

const of = (name: string, because: string, lines: Lines): Equivalent[] =>
  lines.map(([line, change]) => ({ file: `src/kubelet/${name}`, line, change, because }));

const asked = 'only the type does not say that it is there; the compiler asks';

export const kubelet: readonly Equivalent[] = [
  ...of('devices/device-plugins.ts', 'the path of a field is only in the texts of problems', [
    [
      "if (!isExtended(resource) || validateContainerResourceName(resource, '').length > 0)",
      "'' → 'mutated'",
    ],
  ]),
  ...of('devices/nvidia-cards.ts', 'no error is of a card without an address', [
    [
      'if (address !== undefined && !there.has(address)) this.#failed.delete(address);',
      'address !== undefined && !there.has(address) → (!there.has(address))',
    ],
  ]),
  ...of(
    'usage/plan/kernel-files.ts',
    'neither NaN nor Infinity is less than a number; a limit is never below zero',
    [
      [
        'return Number.isFinite(limit) && limit < 2 ** 60 ? limit : undefined;',
        'Number.isFinite(limit) && limit < 2 ** 60 → (limit < 2 ** 60)',
      ],
    ],
  ),
  ...of('pods/plan/allocation.ts', 'what is no JSON is not read, whichever text it is', [
    ["value = JSON.parse(text ?? '');", "'' → 'mutated'"],
  ]),
  ...of('pods/plan/hooks.ts', 'without a handler nothing is pending; the compiler asks', [
    [
      "if (!handler || pendingStart(container, wanted, known)?.at !== 'due') return undefined;",
      "!handler || pendingStart(container, wanted, known)?.at !== 'due' → (pendingStart(container, wanted, known)?.at !== 'due')",
    ],
  ]),
  ...of('pods/plan/init-progress.ts', asked, [
    [
      'const next = begun && container && isOver(begun, container, memory) ? last + 1 : Math.max(last, 0);',
      'begun && container → (begun)',
    ],
  ]),
  ...of('pods/plan/init-progress.ts', 'the next one has its turn by the line before, or all have had it', [
    ['return isSidecar(wanted) && (isDone || index < next);', 'index < next → index <= next'],
  ]),
  ...of(
    'pods/plan/pod-phase.ts',
    'a step that runs makes the pod Pending before, and one that has not run does so here',
    [
      [
        'const sidecars = initStatuses.filter(({ name }) => names.has(name));',
        'initStatuses.filter(({ name }) => names.has(name)) → initStatuses',
      ],
    ],
  ),
  ...of('pods/plan/resize-actions.ts', 'no time is later than NaN; the compiler asks', [
    [
      'const wait = (memory.resize?.failure?.retryAt ?? now) - now;',
      'memory.resize?.failure?.retryAt ?? now → (memory.resize?.failure?.retryAt)',
    ],
  ]),
  ...of('probes/plan/grpc-health.ts', 'it is about how long the message will be: the buffer grows', [
    ['framed(service.length + 8, (writer) => {', '8 → 9'],
  ]),
  ...of(
    'probes/plan/handler-port.ts',
    'no port has a number for a name, and a number is one in a text as well; the compiler asks',
    [
      [
        "const named = typeof wanted === 'string' ? ports.find(({ name }) => name === wanted) : undefined;",
        "typeof wanted === 'string' → true",
      ],
      ["if (typeof wanted === 'number') return wanted;", "typeof wanted === 'number' → false"],
    ],
  ),
  ...of('probes/plan/wanted-probes.ts', 'what has not started has a startup probe; the compiler asks', [
    [
      "return startupProbe && !failed && !isEnding ? [['startup', startupProbe]] : [];",
      'startupProbe && !failed → (!failed)',
    ],
  ]),
  ...of('volumes/plan/projection.ts', asked, [
    [
      'if (resourceFieldRef && first) return resourceValue(pod, first, resourceFieldRef, allocatable);',
      'resourceFieldRef && first → (resourceFieldRef)',
    ],
    ["return podField(pod, fieldRef?.fieldPath ?? '');", "fieldRef?.fieldPath ?? '' → (fieldRef?.fieldPath)"],
    ["return podField(pod, fieldRef?.fieldPath ?? '');", "'' → 'mutated'"],
    ["): VolumeFile => ownedFile(pod, token.path, tokens.get(token) ?? '', defaultMode);", "'' → 'mutated'"],
  ]),
  ...of('volumes/plan/projection.ts', 'nobody is the owner either way', [
    [
      'return { path: checked(path), content, mode, ...(owner !== undefined && { owner }) };',
      'owner !== undefined && { owner } → ({ owner })',
    ],
  ]),
  ...of('volumes/plan/volume-state.ts', 'no time is later than none; the compiler asks', [
    [
      'const isDue = attempt.basis !== basis || (dueAt !== undefined && dueAt <= now);',
      'dueAt !== undefined && dueAt <= now → (dueAt <= now)',
    ],
  ]),
];
