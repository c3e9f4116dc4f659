/** `ctl why`: explains why objects are not as wished, down to the first cause, and what mends it. */
import { inOneGo } from '../../apimachinery/steps.ts';
import { UsageError } from '../../base/usage-error.ts';
import { query } from '../../client/resource-path.ts';
import { type Chain, explain, explainAll, type Problem, type Step } from '../../why/explain.ts';
import { keyOfKind, nameOf, type ObjectRef } from '../../why/kinds.ts';
import type { Snapshot } from '../../why/snapshot.ts';
import { pastOf } from '../../why/timeline.ts';
import type { Cluster } from '../connection/cluster.ts';
import { type FlagTable, outputFlag, printFlags } from '../flags/flags.ts';
import { findResource } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { resolveObjects } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { readSnapshot } from '../why/read-snapshot.ts';
import { type Logs, problemText, type TextOptions, whyObject } from '../why/why-text.ts';

/** Number of lines of a log that an explanation shows. */
const logLines = 5;
/** Maximum number of logs that one command reads. */
const maxLogs = 10;

export const why: Verb = {
  about: 'explain why objects are not as wished: the first cause, its evidence and what mends it',
  group: 'Troubleshooting and Debugging Commands',
  words: ['[TYPE [NAME]]', 'TYPE/NAME...'],
  flags: {
    'all-namespaces': { type: 'boolean', short: 'A', about: 'explain the objects of all namespaces' },
    ...printFlags,
    output: { ...outputFlag.output, about: 'json, yaml, jsonpath=… or go-template=…', usual: 'text' },
  } as const satisfies FlagTable,
  examples: [
    'ctl why # explain what is wrong in the namespace, the worst first',
    'ctl why -A # explain what is wrong in the whole cluster',
    'ctl why pod/web # explain why one pod does not run',
  ],
  async run(context) {
    const { flags, io } = context;
    const cluster = context.cluster();
    const isAll = flags.on('all-namespaces');
    const subjects = flags.words.length > 0 ? await subjectsOf(context) : undefined;
    const namespace = isAll ? undefined : subjects?.[0]?.namespace || cluster.namespace;
    const { snapshot, unread } = await readSnapshot(cluster, namespace, io.clock.now());
    const problems = subjects
      ? subjects.map((subject) => ({ chain: explain(snapshot, subject), subjects: [subject] }))
      : inOneGo(explainAll(snapshot, namespace));
    const program = io.calledAs ?? 'minik8s ctl';
    const options: TextOptions = { program, withNamespaces: isAll, logs: await readLogs(cluster, problems) };
    const format = printedFormat(flags);
    io.out(format ? format(whyObject(problems, options)) : textOf(problems, snapshot, options));
    if (unread.length > 0)
      io.err(`You may not list these kinds, so causes in them are not seen: ${unread.join(', ')}\n`);
  },
};

function textOf(problems: readonly Problem[], snapshot: Snapshot, options: TextOptions): string {
  if (problems.length === 0) return 'everything is as wished\n';
  const texts = problems.map((problem) => {
    const [subject] = problem.subjects;
    if (!subject || problem.chain.length > 0) return problemText(problem, options);
    return `${nameOf(subject)} is as wished\n${pastOf(snapshot, subject)}`;
  });
  return texts.join('\n');
}

/** Resolves to the named objects; throws UsageError for a kind that is not explained. */
async function subjectsOf(context: VerbContext): Promise<readonly ObjectRef[]> {
  const targets = await resolveObjects(context);
  return Promise.all(
    targets.map(async (target) => {
      const { resource, namespace, name } = target;
      const key = keyOfKind(resource.kind);
      if (!key) throw new UsageError(`ctl why does not know the kind ${resource.kind}; try ctl describe`);
      // An object that does not exist is an error, not one without problems.
      await context.cluster().get(targetPath(target));
      return { key, namespace, name };
    }),
  );
}

/** Resolves to the ends of the logs that first causes ask for; a log that cannot be read is left out. */
async function readLogs(cluster: Cluster, problems: readonly Problem[]): Promise<Logs> {
  const asking = problems.flatMap(({ chain }) => lastWithLog(chain)).slice(0, maxLogs);
  if (asking.length === 0) return new Map();
  const resource = findResource(await cluster.resources(), 'pods');
  const entries = asking.map(async (step): Promise<readonly [Step, readonly string[]]> => {
    const { pod, container, previous } = step.finding.log as NonNullable<Step['finding']['log']>;
    const options = { container, previous: previous || undefined, tailLines: logLines };
    const path = targetPath({ resource, ...pod }, 'log') + query(options);
    return [step, await linesOf(cluster, path)];
  });
  return new Map((await Promise.all(entries)).filter(([, lines]) => lines.length > 0));
}

const lastWithLog = (chain: Chain): readonly Step[] => chain.slice(-1).filter(({ finding }) => finding.log);

async function linesOf(cluster: Cluster, path: string): Promise<readonly string[]> {
  try {
    const { body } = await cluster.open({ method: 'GET', path });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8').trimEnd();
    return text === '' ? [] : text.split('\n');
  } catch {
    return [];
  }
}
