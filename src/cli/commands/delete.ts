/** `ctl delete`: deletes objects, and waits until they are gone. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { inContext } from '../errors.ts';
import {
  dryRunFlag,
  dryRunOf,
  dryRunSuffix,
  type Flags,
  type FlagTable,
  fileFlags,
  selectorFlag,
  under,
} from '../flags/flags.ts';
import { outputFlag } from '../flags/output-flags.ts';
import { forEachReported } from '../for-each-reported.ts';
import { kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf, textAt } from '../objects/objects.ts';
import { cascadeFlag, type Deleted, propagationOf, waitUntilGone } from '../objects/removal.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { shown } from '../printers/table-writer.ts';
import { callRaw, rawPath } from '../raw-call.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  ...fileFlags,
  ...dryRunFlag,
  output: {
    ...outputFlag.output,
    hint: 'name',
    about: 'print only the names',
    usual: 'a line for each object',
    values: ['name'],
  },
  ...selectorFlag,
  'field-selector': { type: 'string', hint: 'SELECTOR', about: 'only objects whose fields match' },
  all: { type: 'boolean', about: 'all objects of the type in the namespace' },
  'all-namespaces': { type: 'boolean', short: 'A', about: 'in all namespaces' },
  ...under('Deletion', {
    'grace-period': {
      type: 'string',
      hint: 'SECONDS',
      about: 'seconds given to a pod to terminate gracefully',
      usual: 'the grace period of each pod',
    },
    now: { type: 'boolean', about: 'the same as --grace-period=1' },
    force: { type: 'boolean', about: 'remove at once, without waiting for the pod to stop' },
    ...cascadeFlag,
  }),
  wait: { type: 'boolean', on: true, about: 'wait until the objects are gone' },
  timeout: { type: 'string', hint: 'DURATION', about: 'time to wait', usual: 'no limit' },
  interactive: { type: 'boolean', short: 'i', about: 'ask before the objects are deleted' },
  raw: {
    type: 'string',
    hint: 'PATH',
    about: 'delete at this path of the API, and print the answer unchanged',
  },
  'ignore-not-found': { type: 'boolean', about: 'do not fail for an object that does not exist' },
} as const satisfies FlagTable;

export const remove: Verb = {
  about: 'delete objects by name, by label or by manifest, and wait until they are gone',
  group: 'Basic Commands (Intermediate)',
  words: ['TYPE NAME...', 'TYPE/NAME...', 'TYPE (-l SELECTOR | --all)', '-f FILE'],
  flags: flagTable,
  examples: [
    'ctl delete pod web # delete an object and wait until it is gone',
    'ctl delete -f web.yaml # delete the objects of a manifest',
    'ctl delete deployments,services -l app=web # delete objects by label',
    'ctl delete pod web --now # give the pod one second to terminate',
    'ctl delete pods --all --wait=false # delete all pods of the namespace without waiting',
    'ctl delete -f web.yaml --interactive # list what will be deleted, and ask before',
  ],
  async run(context) {
    const { io, flags } = context;
    if (flags.given('raw')) {
      await callRaw(context, 'DELETE', rawPath(flags, ['interactive', 'selector', 'field-selector', 'all']));
      return;
    }
    const cluster = context.cluster();
    const options = readOptions(flags);
    requireFittingFlags(flags);
    requireSelection(flags);
    let failed = false;
    const report = (error: unknown) => {
      failed = true;
      context.report(error);
    };
    const objects = await resolveObjects({ ...context, report });
    if (objects.length === 0 && !failed) io.out('No resources found\n');
    if (flags.on('interactive') && objects.length > 0 && !(await isConfirmed(context, objects))) {
      io.out('deletion is cancelled\n');
      return;
    }
    const deleted: Deleted[] = [];
    await forEachReported(
      context,
      objects,
      async (target) => {
        const answer = await deleteOne(context, cluster, target, options);
        const uid = answer && (metadataOf(answer).uid || textAt(answer, 'details', 'uid'));
        if (uid !== undefined) deleted.push({ target, uid });
      },
      (error, target) => ofFile(error, target.manifest?.file),
    );
    if (options.wait) await waitUntilGone(context, cluster, deleted, flags.duration('timeout'));
  },
};

/** Lists the objects and asks; resolves to true for the answer y, and to false if the input ends. */
async function isConfirmed({ io }: VerbContext, objects: readonly ObjectTarget[]): Promise<boolean> {
  const names = objects.map(({ resource, name }) => `${kindName(resource)}/${shown(name)}\n`).join('');
  io.out(`You are about to delete the following ${objects.length} resource(s):\n${names}`);
  io.out('Do you want to continue? (y/n): ');
  let text = '';
  for await (const chunk of io.stdio().stdin) {
    text += String(chunk);
    if (/\S+\s/.test(text)) break;
  }
  return text.trim().split(/\s/)[0]?.toLowerCase() === 'y';
}

/** Returns the error with the manifest's file in front, if the object comes from a file. */
const ofFile = (error: unknown, file: string | undefined) =>
  file === undefined ? error : inContext(error, `error when deleting ${JSON.stringify(file)}`);

interface DeleteSettings {
  readonly body: JsonObject;
  readonly wait: boolean;
  readonly forced: boolean;
}

/** Returns the grace period in seconds; undefined for that of each object. */
function graceOf(flags: Flags): number | undefined {
  const grace = flags.whole('grace-period');
  const forced = flags.on('force');
  if (flags.on('now') && grace !== undefined)
    throw new UsageError('--now and --grace-period cannot be specified together');
  if (forced && grace !== undefined && grace > 0)
    throw new UsageError('--force and --grace-period greater than 0 cannot be specified together');
  if (forced) return 0;
  // Without --force, the pod ends before its object is gone: 0 counts as one second, as in kubectl.
  if (flags.on('now') || grace === 0) return 1;
  return grace !== undefined && grace >= 0 ? grace : undefined;
}

/** Throws UsageError for flags that contradict each other, and for a format that delete does not print. */
function requireFittingFlags(flags: Flags): void {
  const output = flags.text('output');
  if (output && output !== 'name')
    throw new UsageError(`unexpected -o output mode: ${output}. We only support '-o name'`);
  if (flags.on('all') && (flags.text('selector') || flags.text('field-selector')))
    throw new UsageError("setting 'all' parameter but found a non empty selector.");
}

function readOptions(flags: Flags): DeleteSettings {
  const seconds = graceOf(flags);
  const forced = flags.on('force');
  const dryRun = dryRunOf(flags) === 'server';
  return {
    body: {
      ...propagationOf(flags),
      ...(seconds !== undefined && { gracePeriodSeconds: seconds }),
      ...(dryRun && { dryRun: ['All'] }),
    },
    wait: flags.on('wait') && dryRunOf(flags) === 'none',
    forced,
  };
}

/** Resolves to the server's answer; undefined if nothing was deleted. */
async function deleteOne(
  { io, flags }: VerbContext,
  cluster: Cluster,
  target: ObjectTarget,
  { body, forced }: DeleteSettings,
): Promise<JsonObject | undefined> {
  const { resource, name } = target;
  const dryRun = dryRunOf(flags);
  if (!resource.namespaced && cluster.namespaceGiven)
    io.err('Warning: deleting cluster-scoped resources, not scoped to the provided namespace\n');
  if (forced)
    io.err(
      'Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. ' +
        'The resource may continue to run on the cluster indefinitely.\n',
    );
  try {
    const path = targetPath(target);
    const answer =
      dryRun === 'client'
        ? await cluster.get(path)
        : await cluster.send('DELETE', path, { kind: 'DeleteOptions', apiVersion: 'v1', ...body });
    const done = `${forced ? 'force ' : ''}deleted${dryRunSuffix[dryRun]}`;
    io.out(
      flags.text('output') === 'name'
        ? `${kindName(resource)}/${name}\n`
        : `${kindName(resource)} "${shown(name)}" ${done}\n`,
    );
    return answer;
  } catch (error) {
    if (isNotFound(error) && flags.on('ignore-not-found')) return undefined;
    throw error;
  }
}
