/** `ctl why`: explains the problems of objects, down to the first cause, and what mends it. */

import { inOneGo } from '../../apimachinery/steps.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { query } from '../../client/resource-path.ts';
import { beginWork } from '../../terminal/live-lines.ts';
import { type Chain, explain, explainAll, type Problem, type Step } from '../../why/explain.ts';
import { isClusterScoped, keyOfKind, kindKeys, nameOf, type ObjectRef } from '../../why/kinds.ts';
import type { RuleBook } from '../../why/rule-book.ts';
import type { Snapshot } from '../../why/snapshot.ts';
import { pastOf } from '../../why/timeline.ts';
import type { Cluster } from '../connection/cluster.ts';
import { type Flags, type FlagTable, selectorFlag } from '../flags/flags.ts';
import { outputFlag, printFlags } from '../flags/output-flags.ts';
import { findResource } from '../objects/discovery.ts';
import { reportNothingIn } from '../objects/nothing-found.ts';
import { targetPath } from '../objects/object-target.ts';
import { resolveObjects } from '../objects/targets.ts';
import { type ObjectFormat, printedFormat } from '../printers/object-format.ts';
import type { CtlIo, Verb, VerbContext } from '../verb.ts';
import { type ReadSnapshot, readSnapshot } from '../why/read-snapshot.ts';
import { ruleBook } from '../why/rule-book.ts';
import { type Logs, problemText, type TextOptions, whyObject } from '../why/why-text.ts';

/** Number of lines of a log that an explanation shows. */
const logLines = 5;
/** Maximum number of logs that one command reads. */
const maxLogs = 10;

export const why: Verb = {
  about: 'explain the problems of objects: the first cause, its evidence and what mends it',
  group: 'Troubleshooting and Debugging Commands',
  words: ['[TYPE [NAME]]', 'TYPE/NAME...'],
  flags: {
    ...selectorFlag,
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
    const format = formatOf(flags);
    const cluster = context.cluster();
    const isAll = flags.on('all-namespaces');
    const subjects = flags.words.length > 0 ? await subjectsOf(context) : undefined;
    const namespace = isAll ? undefined : subjects?.[0]?.namespace || cluster.namespace;
    const seen = await withProgress(io, namespace, readSnapshot(cluster, namespace, io.clock.now()));
    const { snapshot, unread } = seen;
    const book = await ruleBook(io.features);
    const problems = problemsOf(snapshot, book, subjects, namespace);
    const program = io.calledAs ?? 'minik8s ctl';
    const options: TextOptions = { program, withNamespaces: isAll, logs: await readLogs(cluster, problems) };
    if (format) io.out(format(whyObject(problems, options)));
    else if (problems.length > 0) io.out(textOf(problems, snapshot, options));
    else if (subjects || isNothing(seen, namespace)) await reportNothingIn(cluster, io);
    else io.out(noProblem(seen));
    if (unread.length > 0)
      io.err(`You may not list these kinds, so causes in them are not seen: ${unread.join(', ')}\n`);
  },
};

/** Resolves to what is read, and shows meanwhile that it is read. */
async function withProgress<T>(
  { progress }: CtlIo,
  namespace: string | undefined,
  reading: Promise<T>,
): Promise<T> {
  using _work = beginWork(
    progress,
    `objects of ${namespace === undefined ? 'all namespaces' : `namespace ${namespace}`}`,
  );
  return await reading;
}

/** Returns the problems of the named objects, or those of a namespace or of all. */
const problemsOf = (
  snapshot: Snapshot,
  book: RuleBook,
  subjects: readonly ObjectRef[] | undefined,
  namespace: string | undefined,
): readonly Problem[] =>
  subjects?.map((subject) => ({ chain: explain(snapshot, subject, book), subjects: [subject] })) ??
  inOneGo(explainAll(snapshot, book, namespace));

/** Returns the format of -o; undefined for text. Throws UsageError for formats that need names of objects. */
function formatOf(flags: Flags): ObjectFormat | undefined {
  const output = flags.text('output');
  if (output !== undefined && !/^(?:json|yaml|jsonpath|go-template|template)/.test(output))
    throw new UsageError(
      `ctl why has no output format ${output}; it has json, yaml, jsonpath=… and go-template=…`,
    );
  return printedFormat(flags);
}

/** Returns whether a namespace has no objects; it may not exist. */
const isNothing = ({ snapshot, unread }: ReadSnapshot, namespace: string | undefined): boolean =>
  namespace !== undefined &&
  unread.length === 0 &&
  kindKeys.every((key) => isClusterScoped(key) || snapshot.list(key, namespace).length === 0);

/** Returns the line for no problem; it names the limit for a user who may not list every kind. */
const noProblem = ({ unread }: ReadSnapshot): string =>
  unread.length > 0 ? 'no problem found in the kinds that you may list\n' : 'no problem found\n';

function textOf(problems: readonly Problem[], snapshot: Snapshot, options: TextOptions): string {
  const texts = problems.map((problem) => {
    const [subject] = problem.subjects;
    if (!subject || problem.chain.length > 0) return problemText(problem, options);
    return `${nameOf(subject)} has no problem\n${pastOf(snapshot, subject)}`;
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

/**
 * Resolves to the last lines of the logs that first causes request, or to the reason why a log cannot be
 * read.
 */
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
  } catch (error) {
    return [`(its log cannot be read: ${errorMessage(error)})`];
  }
}
