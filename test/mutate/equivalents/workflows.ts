/** Equivalent mutants of workflows, triggers and functions. */
import type { Equivalent } from '../equivalent.ts';

const workflows = 'src/features/workflows/controller/';
const triggers = 'src/features/triggers/server/';
const functions = 'src/features/functions/server/';

/** Returns several changes of one line with the same reason. */
const each = (file: string, line: string, because: string, ...changes: readonly string[]): Equivalent[] =>
  changes.map((change) => ({ file: `${file}.ts`, line, change, because }));

/** Defaults of namespaces that are always set. */
const namespaces: readonly (readonly [file: string, line: string])[] = [
  [`${workflows}definitions`, "const { namespace = '' } = workflow.metadata;"],
  [`${workflows}definitions`, "const { name: of, namespace = '', generation = 1 } = workflow.metadata;"],
  [
    `${workflows}run-writer`,
    "const { name, namespace = '', uid, resourceVersion, ownerReferences = [] } = run.metadata;",
  ],
  [`${workflows}run-writer`, "const { uid, namespace = '' } = run.metadata;"],
  [`${workflows}run-writer`, "const { name, namespace = '', uid } = run.metadata;"],
  [`${workflows}task-objects`, "const { name, namespace = '' } = job.metadata;"],
  [`${workflows}task-objects`, "const { name, namespace = '', uid } = child.metadata;"],
  [`${workflows}task-objects`, "const { name, namespace = '', uid, finalizers = [] } = object.metadata;"],
  [`${workflows}workflow-run`, "const { namespace = '' } = given.metadata;"],
  [`${workflows}workflow-run`, "#ports({ metadata: { namespace = '' } }: WorkflowRun): Ports {"],
  ['src/features/workflows/server/invoke', "const { name: workflow, namespace = '', uid } = metadata;"],
  [
    'src/features/workflows/server/run-ends',
    "const { name, namespace = '', resourceVersion } = run.metadata;",
  ],
  [`${triggers}intake`, "const { namespace = '' } = trigger.metadata;"],
  [`${functions}call`, "const { name, namespace = '' } = calls.function.metadata;"],
  [`${functions}function-metrics`, "const { namespace = '', name } = calls.function.metadata;"],
  [`${functions}function-metrics`, "const { namespace = '', name: fn } = calls.function.metadata;"],
  [`${functions}gateway`, "const { namespace = '', name } = fn.metadata;"],
  [`${functions}gateway`, "const [namespace = '', name = ''] = called.key.split('/');"],
  [`${functions}gateway`, "const { namespace = '', name } = called.calls.function.metadata;"],
  [`${functions}direct-calls`, "const [, , , , , namespace = '', , name = ''] = address.split('/');"],
];

/** Names of indexes. */
const indexes: readonly (readonly [file: string, line: string, change: string])[] = [
  [`${workflows}task-objects`, "const byParent = 'by parent run';", "'by parent run' → ''"],
  [`${workflows}task-objects`, "const byRun = 'by run';", "'by run' → ''"],
  [`${workflows}workflow-run`, "const byWorkflow = 'by workflow';", "'by workflow' → ''"],
  [`${workflows}workflow`, "const byWorkflow = 'runs of a workflow';", "'runs of a workflow' → ''"],
  [`${workflows}workflow`, "const ofWorkflow = 'revisions of a workflow';", "'revisions of a workflow' → ''"],
  [`${triggers}trigger-paths`, "name: 'triggers by path',", "'triggers by path' → ''"],
  [`${functions}gateway`, "name: 'pods by function',", "'pods by function' → ''"],
];

const phase = 'a phase is only compared with placed';

export const workflowsAndFunctions: readonly Equivalent[] = [
  ...namespaces.flatMap(([file, line]) =>
    each(file, line, 'each of these objects has a namespace and a name', "'' → 'mutated'"),
  ),
  ...indexes.flatMap(([file, line, change]) =>
    each(file, line, 'it is the name of an index that only this file uses', change),
  ),
  ...each(`${workflows}function-tasks`, "phase: 'waiting',", phase, "'waiting' → ''"),
  ...each(
    ...([`${workflows}function-tasks`, "one.phase = 'waiting';", phase] as const),
    ...["'waiting' → ''", "one.phase = 'waiting'; → ;"],
  ),
  ...each(
    ...([`${workflows}function-tasks`, "one.phase = one.mark ? 'sent' : 'waiting';", phase] as const),
    ...["'waiting' → ''", "'sent' → ''", 'one.mark → true', 'one.mark → false'],
  ),
  ...each(`${workflows}function-tasks`, "one.phase = 'sent';", phase, "'sent' → ''"),
  ...each(`${workflows}function-tasks`, "one.phase = 'ended';", phase, "'ended' → ''"),
  ...each(
    `${workflows}history-plan`,
    "const end = /[\\ud800-\\udbff]/.test(text[most - 1] ?? '') ? most - 1 : most;",
    'a text that is too long has a character there',
    ...["text[most - 1] ?? '' → (text[most - 1])", "'' → 'mutated'"],
  ),
  ...each(
    `${workflows}live-runs`,
    'BigInt(one.resourceVersion) > BigInt(other.resourceVersion);',
    'of one version both are the same',
    'BigInt(one.resourceVersion) > BigInt(other.resourceVersion) → BigInt(one.resourceVersion) >= BigInt(other.resourceVersion)',
  ),
  ...each(
    `${workflows}live-runs`,
    'const run = key === undefined ? undefined : this.newest(key).run;',
    'there is no run of no key; the rest is for types',
    'key === undefined → false',
  ),
  ...each(
    `${workflows}run-writer`,
    'name: historyName(name, (entries[0]?.id ?? 1) - 1),',
    'no chunk is without entries',
    'entries[0]?.id ?? 1 → (entries[0]?.id)',
  ),
  ...each(
    `${workflows}shares`,
    'const left = (this.#own.get(namespace) ?? 0) - 1;',
    'who leaves has entered',
    ...['this.#own.get(namespace) ?? 0 → (this.#own.get(namespace))', '0 → 1'],
  ),
  ...each(
    `${workflows}shares`,
    'if (left > 0) this.#own.set(namespace, left);',
    'a share of 0 is as none; it takes memory',
    ...['left > 0 → true', 'left > 0 → left >= 0'],
  ),
  ...each(
    `${workflows}shares`,
    'if (first !== undefined) line.delete(first);',
    'undefined is in no line',
    'first !== undefined → true',
  ),
  ...each(
    `${workflows}task-objects`,
    "const runs = this.childrenOf(uid).filter(({ spec }) => !waited.has(spec.parent?.task ?? ''));",
    'a run that is found by its parent has one',
    ...["spec.parent?.task ?? '' → (spec.parent?.task)", "'' → 'mutated'"],
  ),
  ...each(
    `${workflows}task-objects`,
    "for (const job of ofRun.filter((one) => !waited.has(taskOfJob(one).task ?? ''))) {",
    'no task has such an id',
    ...["taskOfJob(one).task ?? '' → (taskOfJob(one).task)", "'' → 'mutated'"],
  ),
  ...each(
    `${workflows}task-objects`,
    "const namespace = task.resource.namespace ?? run.metadata.namespace ?? '';",
    'a run has a namespace',
    ...[
      "task.resource.namespace ?? run.metadata.namespace ?? '' → (task.resource.namespace ?? run.metadata.namespace)",
      "'' → 'mutated'",
    ],
  ),
  ...each(
    `${workflows}workflow-plan`,
    "const endOf = ({ status }: WorkflowRun) => Date.parse(status?.completionTime ?? '');",
    'none of them is a time',
    ...["status?.completionTime ?? '' → (status?.completionTime)", "'' → 'mutated'"],
  ),
  ...each(
    `${workflows}workflow-plan`,
    'const isOver = (run: WorkflowRun) => ttl !== undefined && endOf(run) + ttl * 1000 <= now;',
    'a time that is no number is not over',
    'ttl !== undefined && endOf(run) + ttl * 1000 <= now → (endOf(run) + ttl * 1000 <= now)',
  ),
  ...each(
    `${workflows}workflow-run`,
    "return command.due <= this.#context.clock.now() ? { type: 'Time' } : undefined;",
    'times are looked at whatever an event is called',
    "'Time' → ''",
  ),
  ...each(
    `${workflows}workflow-run`,
    'if (!parent || !run.metadata.finalizers?.includes(taskFinalizer)) return undefined;',
    'a run without the finalizer is let go of by nothing',
    '!parent || !run.metadata.finalizers?.includes(taskFinalizer) → (!parent)',
  ),
  ...each(
    'src/features/workflows/server/run-ends',
    "signal.addEventListener('abort', abort, { once: true });",
    'a signal aborts once',
    'true → false',
  ),
  ...each(
    'src/features/workflows/server/run-ends',
    'if (own.size === 0 && this.#waiting.get(key) === own) this.#waiting.delete(key);',
    'a set that somebody waits in is the one of its key',
    'own.size === 0 && this.#waiting.get(key) === own → (own.size === 0)',
  ),
  ...each(
    'src/features/triggers/server/strangers-requests',
    "name: 'runs in progress by the trigger that has led to them',",
    'it is the name of an index that only this file uses',
    "'runs in progress by the trigger that has led to them' → ''",
  ),
  ...each(
    `${triggers}body-data`,
    "const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';",
    'a text that is split has a first part',
    ...[
      "contentType.split(';')[0]?.trim().toLowerCase() ?? '' → (contentType.split(';')[0]?.trim().toLowerCase())",
      "'' → 'mutated'",
    ],
  ),
  ...each(
    `${triggers}intake`,
    'if (found.length === 0) return [];',
    'of none nothing is left: it only takes longer',
    'found.length === 0 → false',
  ),
  ...each(
    `${triggers}intake`,
    "collection(triggerEventResource, trigger.metadata.namespace ?? ''),",
    'a trigger has a namespace',
    ...["trigger.metadata.namespace ?? '' → (trigger.metadata.namespace)", "'' → 'mutated'"],
  ),
  ...each(
    `${triggers}intake`,
    "return { id: draft.spec.id, name: draft.metadata.name ?? '' };",
    'an event has a name',
    ...["draft.metadata.name ?? '' → (draft.metadata.name)", "'' → 'mutated'"],
  ),
  ...each(
    `${triggers}report-results`,
    "const text = request.headers.get(depthHeader) ?? '';",
    'neither is a number',
    ...["request.headers.get(depthHeader) ?? '' → (request.headers.get(depthHeader))", "'' → 'mutated'"],
  ),
  ...each(
    `${triggers}report-results`,
    '{ highWaterMark: 0 },',
    'the first piece, which is then asked for early, is there already',
    '0 → 1',
  ),
  ...each(
    `${triggers}trigger-paths`,
    "const [, root, namespace = '', ...rest] = path.split('/');",
    'a path without a namespace has nothing behind it',
    "'' → 'mutated'",
  ),
  ...each(
    `${functions}direct-calls`,
    'const path = at < 0 ? url : url.slice(0, at);',
    'a URL begins with a slash',
    'at < 0 → at <= 0',
  ),
  ...each(
    `${functions}direct-calls`,
    "const search = at < 0 ? '' : url.slice(at);",
    'a URL begins with a slash',
    'at < 0 → at <= 0',
  ),
  ...each(
    `${functions}direct-calls`,
    "host: incoming.headers.host ?? '',",
    'a request without a host is left to the app',
    ...["incoming.headers.host ?? '' → (incoming.headers.host)", "'' → 'mutated'"],
  ),
  ...each(
    `${functions}direct-calls`,
    "const length = Number(headers['content-length'] ?? 0);",
    'what is no number is not more than one',
    "headers['content-length'] ?? 0 → (headers['content-length'])",
  ),
  ...each(
    `${functions}function-calls`,
    'if (waiting && this.#waiting.includes(waiting)) {',
    'one that has its place is neither in the line nor told anything more',
    'waiting && this.#waiting.includes(waiting) → (waiting)',
  ),
  ...each(
    `${functions}function-calls`,
    'this.#retry = undefined;',
    'to cancel a timer twice is as once',
    'this.#retry = undefined; → ;',
  ),
  ...each(
    `${functions}instance-connections`,
    "const address = instance.pod.status?.podIP ?? '';",
    'it is only compared with the one before',
    ...["instance.pod.status?.podIP ?? '' → (instance.pod.status?.podIP)", "'' → 'mutated'"],
  ),
  ...each(
    `${functions}instances`,
    "canonicalAddress(pod.status?.podIP ?? '') !== undefined",
    'neither is an address',
    "'' → 'mutated'",
  ),
  ...each(
    `${functions}invoke`,
    'if (!request.body || !(isChunked || length > 0)) return undefined;',
    'a body of length 0 is answered for above',
    'length > 0 → length >= 0',
  ),
  ...each(
    `${functions}load-meter`,
    'if ((step.number + 1) * this.#stepMs <= from) break;',
    'of a step that ends there no part is counted',
    '(step.number + 1) * this.#stepMs <= from → (step.number + 1) * this.#stepMs < from',
  ),
  ...each(
    `${functions}load-meter`,
    'return passed > 0 && after > 0 ? after / passed : 0;',
    'steps that end before are not asked for, and what has not passed has no part after',
    ...['passed > 0 && after > 0 → (passed > 0)', 'passed > 0 → passed >= 0', 'after > 0 → after >= 0'],
  ),
  ...each(
    `${functions}load-meter`,
    'if (this.#underWay > 0) this.#step(this.#upTo).work += this.#underWay * (end - this.#upTo);',
    'no calls are no work',
    ...['this.#underWay > 0 → this.#underWay >= 0', 'this.#underWay > 0 → true'],
  ),
  ...each(
    `${functions}load-meter`,
    'this.#upTo = this.#underWay > 0 ? end : now;',
    'step by step comes to the same: it only takes longer',
    ...['this.#underWay > 0 → this.#underWay >= 0', 'this.#underWay > 0 → true'],
  ),
  ...each(
    `${functions}load-meter`,
    'if (last?.number === number) return last;',
    'two records of one step add up to the same',
    'last?.number === number → false',
  ),
  ...each(
    `${functions}placed-calls`,
    "const type = headers['content-type'] ?? '';",
    'neither is JSON',
    ...["headers['content-type'] ?? '' → (headers['content-type'])", "'' → 'mutated'"],
  ),
  ...each(
    `${functions}reached-pods`,
    "return range !== undefined && hasAddress(range, status?.podIP ?? '');",
    'neither is an address',
    "'' → 'mutated'",
  ),
  ...(
    [
      ['call', "else gone.addEventListener('abort', leave, { once: true });"],
      ['call-body', "gone.addEventListener('abort', leave, { once: true });"],
      ['exchange', "signal.addEventListener('abort', abort, { once: true });"],
      ['placed-calls', "signal.addEventListener('abort', leave, { once: true });"],
    ] as const
  ).flatMap(([file, line]) => each(`${functions}${file}`, line, 'a signal aborts once', 'true → false')),
  ...each(
    `${functions}demand-plan`,
    'const rest = idleFor > 0 ? Math.min(lookMs, idleMs - idleFor) : lookMs;',
    'the idle time is a second or more',
    ...['idleFor > 0 → true', 'idleFor > 0 → idleFor >= 0'],
  ),
  ...each(
    `${functions}demand-plan`,
    ': load.average(Math.min(windowSeconds * 1000, early(windowSeconds)), now) / target;',
    'no window is shorter than a second, which is the shortest part of it',
    '1000 → 1001',
  ),
  ...each(
    `${triggers}trigger-paths`,
    `return path === undefined ? [] : [\`\${object.metadata.namespace}\${path}\`];`,
    'what is found is compared with the path once more',
    'path === undefined → false',
  ),
  ...each(
    `${functions}load-meter`,
    'return passed > 0 && after > 0 ? after / passed : 0;',
    'what has not passed has no part after',
    'passed > 0 && after > 0 → (after > 0)',
  ),
  ...each(
    `${functions}load-meter`,
    'if ((this.#steps[0]?.number ?? oldest) < oldest) {',
    'undefined is not older',
    'this.#steps[0]?.number ?? oldest → (this.#steps[0]?.number)',
  ),
  ...each(
    `${functions}direct-calls`,
    "for (let i = 0; i < raw.length; i += 2) if (raw[i]?.toLowerCase() === 'authorization') found += 1;",
    'behind the last header there is none',
    'i < raw.length → i <= raw.length',
  ),
  ...each(
    `${functions}reached-pods`,
    "const node = cache.get(storageKey(nodeResource, '', spec.nodeName ?? ''))?.object as Node | undefined;",
    'a pod of this very node has the name of it',
    "spec.nodeName ?? '' → (spec.nodeName)",
  ),
];
