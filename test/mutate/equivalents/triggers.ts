/** Equivalent mutants of the trigger controller, and of the folders that nodes watch for it. */
import type { Equivalent } from '../equivalent.ts';

type Lines = readonly (readonly [line: string, change: string])[];

const of = (name: string, because: string, lines: Lines): Equivalent[] =>
  lines.map(([line, change]) => ({ file: `src/${name}`, line, change, because }));

const asked = 'only the type does not say that it is there; the compiler asks';
const sliced = 'what is sorted and cut to nothing is nothing too; it only costs time';
const kept = 'what is kept beyond need only costs memory';

export const triggers: readonly Equivalent[] = [
  ...of('features/triggers/controller/backlog.ts', 'the same name is put in and asked for', [
    ["export const eventsByTrigger = 'trigger';", "'trigger' → ''"],
  ]),
  ...of('features/triggers/controller/backlog.ts', 'where nobody waits nobody is woken', [
    [
      'if (this.#waiting.has(triggerOf(event))) this.#look(triggerOf(event));',
      'this.#waiting.has(triggerOf(event)) → true',
    ],
  ]),
  ...of('features/triggers/controller/file-source.ts', 'the same name is put in and asked for', [
    ["const watchesByTrigger = 'trigger';", "'trigger' → ''"],
  ]),
  ...of(
    'features/triggers/controller/file-source.ts',
    'it is asked only for triggers of files; the compiler asks',
    [['if (!file) return { position };', '!file → false']],
  ),
  ...of('features/triggers/controller/file-source.ts', 'no volume has any of these names', [
    [
      "volume: volumes.get(claim?.spec.volumeName ?? ''),",
      "claim?.spec.volumeName ?? '' → (claim?.spec.volumeName)",
    ],
    ["volume: volumes.get(claim?.spec.volumeName ?? ''),", "'' → 'mutated'"],
  ]),
  ...of('features/triggers/controller/file-plan.ts', asked, [
    [
      "make: wanted.filter(({ metadata }) => !there.has(metadata.name ?? '')),",
      "metadata.name ?? '' → (metadata.name)",
    ],
    ["make: wanted.filter(({ metadata }) => !there.has(metadata.name ?? '')),", "'' → 'mutated'"],
    [
      "return placeOfClaim(metadata.namespace ?? '', file.claimName, file, facts);",
      "metadata.namespace ?? '' → (metadata.namespace)",
    ],
    ["return placeOfClaim(metadata.namespace ?? '', file.claimName, file, facts);", "'' → 'mutated'"],
    ["const { folder = '', nodeSelector = {} } = file;", "'' → 'mutated'"],
  ]),
  ...of('features/triggers/controller/file-plan.ts', 'no message and an empty one are said alike', [
    [
      "return { name, reason: status.reason, message: status.message ?? '' };",
      "status.message ?? '' → (status.message)",
    ],
  ]),
  ...of('features/triggers/controller/delivery-plan.ts', sliced, [
    [
      'const discard = surplus === 0 ? [] : dead.toSorted(byFailure).slice(0, surplus);',
      'surplus === 0 → false',
    ],
    ['start: room === 0 ? [] : due.toSorted(byAge).slice(0, room),', 'room === 0 → false'],
  ]),
  ...of('features/triggers/controller/delivery-plan.ts', 'one as near is the same time', [
    ['else if (next === undefined || at < next) next = at;', 'at < next → at <= next'],
  ]),
  ...of('features/triggers/controller/delivery-plan.ts', 'a text behind all times is due at once as well', [
    ["spec.replays > (status?.replays ?? 0) ? '' : (status?.nextTime ?? '');", "'' → 'mutated'"],
  ]),
  ...of('features/triggers/controller/deliveries.ts', 'nobody is called undefined', [
    ['if (next !== undefined) this.#waiting.delete(next);', 'next !== undefined → true'],
  ]),
  ...of('features/triggers/controller/deliveries.ts', kept, [
    ['if (own > 0) this.#own.set(namespace, own);', 'own > 0 → true'],
  ]),
  ...of('features/triggers/controller/deliveries.ts', asked, [
    ["const { name, namespace = '', uid } = event.metadata;", "'' → 'mutated'"],
  ]),
  ...of('features/triggers/controller/object-plan.ts', 'only the sign counts', [
    [
      '.toSorted((a, b) => (notAfter(a.metadata.resourceVersion, b.metadata.resourceVersion) ? -1 : 1))',
      '1 → 2',
    ],
  ]),
  ...of('features/triggers/controller/object-source.ts', asked, [
    [
      "namespace: namespaceOf(this.#source, options.trigger.metadata.namespace ?? '', options.definition),",
      "options.trigger.metadata.namespace ?? '' → (options.trigger.metadata.namespace)",
    ],
    [
      "namespace: namespaceOf(this.#source, options.trigger.metadata.namespace ?? '', options.definition),",
      "'' → 'mutated'",
    ],
  ]),
  ...of(
    'features/triggers/controller/object-source.ts',
    'a bookmark is no change, of which nothing is told',
    [
      ["if (event.type !== 'BOOKMARK') await this.#report(event, rfc3339(clock.now()));", "'BOOKMARK' → ''"],
      [
        "if (event.type !== 'BOOKMARK') await this.#report(event, rfc3339(clock.now()));",
        "event.type !== 'BOOKMARK' → true",
      ],
    ],
  ),
  ...of('features/triggers/controller/status-plan.ts', 'no conditions and none of them are alike', [
    ['const before = status.conditions ?? [];', 'status.conditions ?? [] → (status.conditions)'],
  ]),
  ...of('features/triggers/controller/cron-plan.ts', 'between the two there is no time of a calendar', [
    [
      "latest ?? (schedule.type === 'every' ? anchor : Math.max(anchor, now)),",
      "schedule.type === 'every' → true",
    ],
  ]),
  ...of('features/triggers/controller/cron-plan.ts', 'the next time is later than now', [
    ['const again = next === undefined ? undefined : Math.max(0, next - now);', '0 → 1'],
  ]),
  ...of(
    'features/triggers/controller/cron-plan.ts',
    'undefined is not less than a number; the compiler asks',
    [
      [
        'const isLate = latest !== undefined && latest < now - startingDeadlineSeconds * 1000;',
        'latest !== undefined && latest < now - startingDeadlineSeconds * 1000 → (latest < now - startingDeadlineSeconds * 1000)',
      ],
    ],
  ),
  ...of('features/triggers/controller/targets.ts', asked, [
    ["const { namespace = '' } = trigger.metadata;", "'' → 'mutated'"],
    ["const { namespace = '', name: triggerName } = trigger.metadata;", "'' → 'mutated'"],
    ["const missing = ({ kind, name }: Trigger['spec']['target'], namespace = '') =>", "'' → 'mutated'"],
  ]),
  ...of('features/triggers/controller/status-writer.ts', 'neither NaN nor Infinity is less than the pause', [
    [
      'const since = at - (this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY);',
      'this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY → (this.#writtenAt.get(key))',
    ],
  ]),
  ...of('features/triggers/agent/folder-alarm.ts', 'no folder in a folder has this name either', [
    ["const nearest = '/';", "'/' → ''"],
  ]),
  ...of('features/triggers/agent/folder-alarm.ts', 'the root of the machine is always there', [
    ['if (lowest === undefined) return;', 'lowest === undefined → false'],
    ['if (at === dirname(at)) return undefined;', 'at === dirname(at) → false'],
  ]),
  ...of('features/triggers/agent/folder-memory.ts', 'JSON.parse takes bytes in UTF-8 for their text', [
    ["text = await readFile(path, 'utf8');", "'utf8' → ''"],
  ]),
  ...of(
    'features/triggers/agent/plan/folder-changes.ts',
    'one of the two is there where they differ; the compiler asks',
    [['} else if (is) changes.push({ type: typeOf(old, mark), path, mark: is });', 'is → true']],
  ),
  ...of('features/triggers/agent/open-folder.ts', asked, [
    ["const name = parts.pop() ?? '';", "'' → 'mutated'"],
    ["const { code = '' } = error as NodeJS.ErrnoException;", "'' → 'mutated'"],
  ]),
];
