/** Equivalent mutants of the executors of functions, workflows and triggers. */
import type { Equivalent } from '../equivalent.ts';

type Lines = readonly (readonly [line: string, change: string])[];

const of = (name: string, because: string, lines: Lines): Equivalent[] =>
  lines.map(([line, change]) => ({ file: `src/features/${name}.ts`, line, change, because }));

export const featureParts: readonly Equivalent[] = [
  ...of('functions/server/exchange', 'a promise settles once', [
    ['isSettled = true;', 'isSettled = true; → ;'],
  ]),
  ...of('functions/server/exchange', 'a body that is sent at once is finished when its answer ends', [
    [
      'if (body === undefined || Buffer.isBuffer(body) || sent.writableFinished) return;',
      'body === undefined || Buffer.isBuffer(body) → (body === undefined)',
    ],
    [
      'if (body === undefined || Buffer.isBuffer(body) || sent.writableFinished) return;',
      'body === undefined || Buffer.isBuffer(body) → (Buffer.isBuffer(body))',
    ],
  ]),
  ...of('functions/server/call', 'an answer has a status; only its type does not say so', [
    ['const status = answer.statusCode ?? 0;', 'answer.statusCode ?? 0 → (answer.statusCode)'],
  ]),
  ...of('functions/server/placed-calls', 'an answer has a status; only its type does not say so', [
    ['report(outcome.answer.statusCode ?? 0);', '0 → 1'],
  ]),
  ...of('functions/server/placed-calls', 'what is kept of a longer answer only takes memory', [
    ['if (bytes <= maxAnswer) chunks.push(chunk);', 'bytes <= maxAnswer → true'],
  ]),
  ...of(
    'functions/server/direct-calls',
    'a header that is listed has a value; only its type does not say so',
    [
      [
        "for (const name in this.#headers) yield [name, this.get(name) ?? ''];",
        "this.get(name) ?? '' → (this.get(name))",
      ],
    ],
  ),
  ...of('functions/server/function-calls', 'a call that waits is given a free place at once', [
    ['if (!free) {', '!free → true'],
  ]),
  ...of('functions/server/gateway-app', 'the URL of a request can be parsed; only the type does not say so', [
    [
      "const path = URL.parse(request.url)?.pathname ?? '';",
      "URL.parse(request.url)?.pathname ?? '' → (URL.parse(request.url)?.pathname)",
    ],
  ]),
  ...of('functions/server/gateway-port', 'a turn begins only after it was set', [
    ['#again = false;', 'false → true'],
  ]),
  ...of('functions/server/gateway-port', 'the failure is forgotten before the port is opened again', [
    ['this.#forgetFailure();', 'this.#forgetFailure(); → ;'],
  ]),
  ...of('functions/server/load-meter', 'an older step has no share in the time', [
    ['if ((step.number + 1) * this.#stepMs <= from) break;', '1 → 2'],
  ]),
  ...of('functions/server/load-meter', 'nothing is left out then', [
    [
      'if ((this.#steps[0]?.number ?? oldest) < oldest) {',
      '(this.#steps[0]?.number ?? oldest) < oldest → (this.#steps[0]?.number ?? oldest) <= oldest',
    ],
  ]),
  ...of('functions/server/reached-pods', 'the pod has the name of the node', [
    [
      "const node = cache.get(storageKey(nodeResource, '', spec.nodeName ?? ''))?.object as Node | undefined;",
      "'' → 'mutated'",
    ],
  ]),
  ...of('functions/controller/function', 'the other controller of the account has the same right', [
    ["['get list watch create patch delete', 'core', 'pods'],", "'pods' → ''"],
  ]),
  ...of('functions/controller/warm-pool', 'the other controller of the account has the same right', [
    ["['get list watch', 'minik8s.io', 'functionversions'],", "'functionversions' → ''"],
    ["['get list watch create patch delete', 'core', 'pods'],", "'core' → ''"],
  ]),
  ...of('functions/controller/warm-pool', 'controllers read by the account of the controller manager', [
    ["[read, 'core', 'nodes'],", "'core' → ''"],
  ]),
  ...of('functions/controller/warm-pool-plan', 'neither is a time', [
    [
      "const given = pods.map(({ metadata }) => Date.parse(metadata.annotations?.[givenAtAnnotation] ?? ''));",
      "metadata.annotations?.[givenAtAnnotation] ?? '' → (metadata.annotations?.[givenAtAnnotation])",
    ],
  ]),
  ...of('workflows/controller/workflow', 'the other controller of the account has the same right', [
    [
      "['get list watch create delete', 'apps', 'controllerrevisions'],",
      "'get list watch create delete' → ''",
    ],
  ]),
  ...of('workflows/controller/run-tasks', 'each of these objects has a namespace and a name', [
    ["const { uid, namespace = '' } = run.metadata;", "'' → 'mutated'"],
    ["const { namespace = '', uid } = run.metadata;", "'' → 'mutated'"],
  ]),
  ...of(
    'workflows/controller/workflow-run',
    'a run that is stored one time less often gets its next turn earlier',
    [['for (let round = 0; round < maxRounds; round++) {', '0 → 1']],
  ),
  ...of('workflows/server/strangers-runs', 'it is the name of an index that only this file uses', [
    [
      "name: 'runs in progress that anonymous users have started, by workflow',",
      "'runs in progress that anonymous users have started, by workflow' → ''",
    ],
  ]),
  ...of('triggers/server/strangers-requests', 'it is the name of an index that only this file uses', [
    [
      "name: 'events of requests that wait to be delivered, by trigger',",
      "'events of requests that wait to be delivered, by trigger' → ''",
    ],
  ]),
  ...of('triggers/server/file-events', 'each of these objects has a namespace and a name', [
    ["return [key(spec.nodeName, metadata.namespace ?? '', spec.trigger)];", "'' → 'mutated'"],
  ]),
  ...of('triggers/controller/cron-source', 'a source is asked for its own triggers', [
    ['if (!cron) return { position };', '!cron → false'],
  ]),
  ...of('triggers/controller/cron-source', 'a schedule that was due is due again', [
    [
      'if (last === undefined && again === undefined) {',
      'last === undefined && again === undefined → (again === undefined)',
    ],
  ]),
  ...of('triggers/controller/object-sources', 'the position is that of one kind', [
    [
      'const id = JSON.stringify([trigger.metadata.uid, position.of, definition.plural]);',
      'definition.plural → (nothing)',
    ],
  ]),
  ...of('triggers/controller/object-sources', 'each of these objects has a namespace and a name', [
    ["const { namespace = '', resourceVersion } = trigger.metadata;", "'' → 'mutated'"],
  ]),
  ...of('triggers/controller/sources', 'a trigger has a source', [
    [
      'return name === undefined ? { position } : await this.#byName[name].report({ ...reading, position });',
      'name === undefined → false',
    ],
  ]),
  ...of('triggers/controller/sources', 'a trigger of requests has the path itself', [
    [
      'if (!first || first.metadata.name === name) return { position };',
      '!first || first.metadata.name === name → (first.metadata.name === name)',
    ],
  ]),
];
