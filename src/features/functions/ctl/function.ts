/** `ctl function`: manages functions (HTTP-invoked programs), created and updated from folders. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { patchTypes } from '../../../apimachinery/patch.ts';
import { UsageError } from '../../../base/usage-error.ts';
import { callBody } from '../../../cli/call-body.ts';
import { remove } from '../../../cli/commands/delete.ts';
import { describe } from '../../../cli/commands/describe.ts';
import { get } from '../../../cli/commands/get.ts';
import { logs as podLogs } from '../../../cli/commands/logs.ts';
import {
  connectionFlags,
  dryRunFlag,
  dryRunOf,
  dryRunSuffix,
  Flags,
  type FlagTable,
} from '../../../cli/flags/flags.ts';
import { outputFlag } from '../../../cli/flags/output-flags.ts';
import { writeQuery } from '../../../cli/flags/write-options.ts';
import { follow } from '../../../cli/objects/follow.ts';
import { type ObjectTarget, targetPath } from '../../../cli/objects/object-target.ts';
import { numberAt, recordAt, recordsAt, textAt } from '../../../cli/objects/objects.ts';
import { printedFormat } from '../../../cli/printers/object-format.ts';
import type { Verb, VerbContext, VerbGroup } from '../../../cli/verb.ts';
import { collectionPath } from '../../../client/resource-path.ts';
import { beginWork } from '../../../terminal/live-lines.ts';
import { locatedCause } from '../api/failure.ts';
import { functionTarget, printCall } from './call.ts';
import { changed, functionFlags, specOf } from './function-object.ts';

/** Label of an instance: the name of its Function. */
const functionLabel = 'minik8s.io/function';

const writing = {
  ...functionFlags,
  ...dryRunFlag,
  ...outputFlag,
  wait: { type: 'boolean', about: 'wait until the function is ready; fail if its build fails' },
  'wait-timeout': { type: 'string', hint: 'DURATION', about: 'time to wait', usual: '10m' },
} as const satisfies FlagTable;

const create: Verb = {
  about: 'create a function from a directory, a zip archive or an image',
  words: ['NAME --from (DIRECTORY | FILE.zip)', 'NAME --image IMAGE'],
  flags: writing,
  examples: [
    'ctl function create hello --from ./hello --wait # build a directory, and wait until it can be called',
    'ctl function create hello --from ./hello --env COLOR=blue --max-scale 3 # set variables and limits',
  ],
  async run(context) {
    const target = await functionTarget(context, oneWord(context, 'create'));
    if (!context.flags.given('from') && !context.flags.given('image'))
      throw new UsageError(
        'ctl function create: give the program, --from DIRECTORY or --from FILE.zip, or --image IMAGE',
      );
    const spec = await specOf(context.flags);
    const { name, namespace } = target;
    const object = { apiVersion: 'minik8s.io/v1', kind: 'Function', metadata: { name, namespace }, spec };
    const path = collectionPath(target.resource, namespace);
    await write(context, target, 'created', object, (query) =>
      context.cluster().send('POST', path + query, object),
    );
  },
};

const update: Verb = {
  about: 'replace the program or settings of a function while calls go on',
  words: 'NAME',
  flags: writing,
  examples: [
    'ctl function update hello --from ./hello --wait # replace its program',
    'ctl function update hello --min-scale 1 # keep one instance always',
  ],
  run: (context) => updateFunction(context, oneWord(context, 'update')),
};

/** Updates a function; also used by `ctl update function`. */
export async function updateFunction(context: VerbContext, word: string): Promise<void> {
  const target = await functionTarget(context, word);
  const before = await context.cluster().get(targetPath(target));
  const spec = changed(recordAt(before, 'spec'), await specOf(context.flags));
  // The spec is replaced as a whole, so that removed files disappear. The test of the generation prevents
  // overwriting another client's change; the status, which changes with each call, may differ.
  const patch = [
    { op: 'test', path: '/metadata/generation', value: numberAt(before, 'metadata', 'generation') },
    { op: 'replace', path: '/spec', value: spec },
  ];
  await write(context, target, 'updated', { ...before, spec }, (query) =>
    context.cluster().send('PATCH', targetPath(target) + query, patch, patchTypes.json),
  );
}

export const updateFlags = writing;

async function write(
  context: VerbContext,
  target: ObjectTarget,
  done: string,
  object: JsonObject,
  send: (query: string) => Promise<JsonObject>,
): Promise<void> {
  const { flags, io } = context;
  const format = printedFormat(flags);
  const dryRun = dryRunOf(flags);
  const written = dryRun === 'client' ? object : await send(writeQuery(dryRun));
  io.out(format?.(written) ?? `function/${target.name} ${done}${dryRunSuffix[dryRun]}\n`);
  if (flags.on('wait') && dryRun === 'none') await waitUntilReady(context, target, written);
}

async function waitUntilReady(
  context: VerbContext,
  target: ObjectTarget,
  written: JsonObject,
): Promise<void> {
  const { io, flags } = context;
  const generation = numberAt(written, 'metadata', 'generation');
  const timeoutMs = flags.duration('wait-timeout') ?? 600_000;
  using work = beginWork(io.progress, `function/${target.name}`);
  let last = '';
  for await (const object of follow(context.cluster(), target, { clock: io.clock, timeoutMs })) {
    if (!object) throw new Error(`function/${target.name} was deleted`);
    if (numberAt(object, 'status', 'observedGeneration') < generation) continue;
    const ready = recordsAt(object, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Ready');
    if (isCallable(ready)) return io.out(`function/${target.name} can be called\n`);
    last = textAt(ready, 'message');
    work.say(last);
  }
  const state = last && `: ${last}; minik8s ctl describe function ${target.name} shows its instances`;
  throw new Error(`timed out waiting for function/${target.name}${state}`);
}

/** Returns true if the condition Ready is True. Throws its message if the function cannot become ready. */
function isCallable(ready: JsonObject | undefined): boolean {
  if (textAt(ready, 'status') === 'True') return true;
  if (!['', 'Starting'].includes(textAt(ready, 'reason')))
    throw new Error(locatedCause(textAt(ready, 'message')) ?? textAt(ready, 'message'));
  return false;
}

const invoke: Verb = {
  about: 'call a function and print its response',
  words: 'NAME [JSON | @FILE]',
  examples: [
    `ctl function invoke hello '{"name":"Ann"}' # call it with an argument`,
    'ctl function invoke hello @request.json # take the argument from a file',
  ],
  async run(context) {
    const [word, text, ...more] = context.flags.words;
    if (word === undefined || more.length > 0)
      throw new UsageError('ctl function invoke: say which function, and at most one argument: NAME [JSON]');
    await printCall(context, await functionTarget(context, word), await callBody(context, text));
  },
};

const logFlags = {
  follow: { type: 'boolean', short: 'f', about: 'keep printing new lines as the instances write them' },
  previous: { type: 'boolean', short: 'p', about: 'print the log of the run before the last restart' },
  tail: {
    type: 'string',
    hint: 'LINES',
    about: 'print only this many of the last lines',
    usual: '-1, all lines',
  },
  build: { type: 'boolean', about: 'print the last lines of the log of its newest build' },
} as const satisfies FlagTable;

const logs: Verb = {
  about: 'print the logs of the instances of a function, or of its build',
  words: 'NAME',
  flags: logFlags,
  examples: [
    'ctl function logs hello -f # follow the logs of all instances',
    'ctl function logs hello --build # see why it was not built',
  ],
  async run(context) {
    const { flags } = context;
    const name = oneWord(context, 'logs');
    if (name.includes('/')) throw new UsageError('ctl function logs: set the namespace with -n');
    const target = await functionTarget(context, name);
    const object = await context.cluster().get(targetPath(target));
    if (flags.on('build')) return printBuild(context, target, object);
    const argv = [
      `--selector=${functionLabel}=${name}`,
      `--tail=${flags.whole('tail') ?? -1}`,
      ...(['follow', 'previous'] as const).filter((flag) => flags.on(flag)).map((flag) => `--${flag}`),
    ];
    await podLogs.run({ ...context, flags: new Flags({ ...connectionFlags, ...podLogs.flags }, argv) });
  },
};

async function printBuild(
  { io, cluster }: VerbContext,
  target: ObjectTarget,
  object: JsonObject,
): Promise<void> {
  const version = textAt(object, 'status', 'latestVersion');
  if (version === '') throw new Error(`function/${target.name} has no version yet`);
  const path = targetPath(target).replace(/functions\/[^/]*$/, `functionversions/${version}`);
  const log = textAt(await cluster().get(path), 'status', 'log');
  io.out(log === '' || log.endsWith('\n') ? log : `${log}\n`);
}

function oneWord({ flags }: VerbContext, verb: string): string {
  const [word, ...more] = flags.words;
  if (word === undefined || more.length > 0)
    throw new UsageError(`ctl function ${verb}: say which function: NAME`);
  return word;
}

const ofFunctions = (verb: Verb, own: Pick<Verb, 'about' | 'words' | 'examples'>): Verb => ({
  ...verb,
  ...own,
  firstWords: ['functions.minik8s.io'],
});

export const functions: VerbGroup = {
  about: 'create, call and watch functions: programs called over HTTP, scaled on demand',
  group: 'Functions, Workflows and Slurm',
  examples: [
    'ctl function create hello --from ./hello --wait # build a directory',
    `ctl function invoke hello '{"name":"Ann"}' # call it`,
  ],
  verbs: {
    create,
    update,
    get: ofFunctions(get, {
      about: 'list functions, or print one',
      words: '[NAME...]',
      examples: [
        'ctl function get # list the functions',
        'ctl function get hello -o yaml # print one in full',
      ],
    }),
    describe: ofFunctions(describe, {
      about: 'explain the state of functions: image, instances, calls, build and last events',
      words: '[NAME]',
      examples: ['ctl function describe hello # see why a function cannot be called'],
    }),
    logs,
    invoke,
    delete: ofFunctions(remove, {
      about: 'delete functions with their versions and instances',
      words: ['NAME...', '--all'],
      examples: ['ctl function delete hello # delete a function'],
    }),
  },
};
