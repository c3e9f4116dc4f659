/** `ctl workflow`: manages workflows, defined in the States Language, and their runs. */

import type { JsonObject } from '../../../apimachinery/equality.ts';
import { patchTypes } from '../../../apimachinery/patch.ts';
import { UsageError } from '../../../base/usage-error.ts';
import { callBody } from '../../../cli/call-body.ts';
import { remove } from '../../../cli/commands/delete.ts';
import { describe } from '../../../cli/commands/describe.ts';
import { get } from '../../../cli/commands/get.ts';
import { dryRunFlag, dryRunOf, dryRunSuffix, type FlagTable, under } from '../../../cli/flags/flags.ts';
import { outputFlag } from '../../../cli/flags/output-flags.ts';
import { writeQuery } from '../../../cli/flags/write-options.ts';
import { findResource } from '../../../cli/objects/discovery.ts';
import { listPath, type ObjectTarget, targetPath } from '../../../cli/objects/object-target.ts';
import { numberAt, recordAt, recordsAt, textAt, valueAt } from '../../../cli/objects/objects.ts';
import { objectFormat, printedFormat } from '../../../cli/printers/object-format.ts';
import { TableWriter } from '../../../cli/printers/table-writer.ts';
import type { Verb, VerbContext, VerbGroup } from '../../../cli/verb.ts';
import { collectionPath } from '../../../client/resource-path.ts';
import { graph as drawn } from '../../../states-language/graph/render.ts';
import type { Json } from '../../../states-language/json.ts';
import { createExpressionThread } from '../../../states-language/jsonata/thread.ts';
import { checkedDefinition, readDefinition, readValue } from './definition-file.ts';
import { type Entry, historyHeaders, historyRows } from './history-rows.ts';
import { readAnswers, runLocally } from './local-run.ts';
import { ends, isOver, printEnd, printJson } from './run-end.ts';

const definitionFlag = under('The workflow', {
  definition: {
    type: 'string',
    hint: 'FILE',
    about:
      'the definition: States Language as JSON or YAML, or the manifest of a Workflow; - for standard input',
  },
});

const inputFlag = under('The run', {
  input: { type: 'string', hint: 'JSON|@FILE|@-', about: 'input of the run', usual: '{}' },
});

const writing = {
  ...definitionFlag,
  ...under('The workflow', { public: { type: 'boolean', about: 'allow calls without authentication' } }),
  ...dryRunFlag,
  ...outputFlag,
} as const satisfies FlagTable;

const create: Verb = {
  about: 'create a workflow from a definition in Amazon States Language',
  words: 'NAME --definition FILE',
  flags: writing,
  examples: ['ctl workflow create order --definition order.yaml # create it'],
  async run(context) {
    const { io, flags } = context;
    const { name, namespace, resource } = await targetOf(context, 'workflows', oneWord(context, 'create'));
    const spec = await specOf(context);
    const object = { apiVersion: 'minik8s.io/v1', kind: 'Workflow', metadata: { name, namespace }, spec };
    const dryRun = dryRunOf(flags);
    const path = collectionPath(resource, namespace) + writeQuery(dryRun);
    const written = dryRun === 'client' ? object : await context.cluster().send('POST', path, object);
    const format = printedFormat(flags);
    io.out(format?.(written) ?? `workflow/${name} created${dryRunSuffix[dryRun]}\n`);
  },
};

const update: Verb = {
  about: 'replace the definition of a workflow; active runs keep theirs',
  words: 'NAME --definition FILE',
  flags: writing,
  examples: ['ctl workflow update order --definition order.yaml # replace it'],
  async run(context) {
    const { io, flags } = context;
    const target = await targetOf(context, 'workflows', oneWord(context, 'update'));
    const before = await context.cluster().get(targetPath(target));
    const spec = await specOf(context, before);
    const dryRun = dryRunOf(flags);
    const path = targetPath(target) + writeQuery(dryRun);
    const patch = Object.entries(spec).map(([field, value]) => ({
      op: 'add',
      path: `/spec/${field}`,
      value,
    }));
    const written =
      dryRun === 'client'
        ? { ...before, spec: { ...recordAt(before, 'spec'), ...spec } }
        : await context.cluster().send('PATCH', path, patch, patchTypes.json);
    const format = printedFormat(flags);
    const line = `workflow/${target.name} updated${dryRunSuffix[dryRun]}\n`;
    io.out(format?.(written) ?? line);
  },
};

/** Returns the spec from the flags; in an update, fields without a flag keep their values. */
async function specOf({ io, flags }: VerbContext, before?: JsonObject): Promise<JsonObject> {
  const file = flags.text('definition');
  if (file === undefined && !before)
    throw new UsageError('ctl workflow create: give the definition: --definition FILE');
  const definition =
    file === undefined
      ? valueAt(before, 'spec', 'definition')
      : checkedDefinition(await readDefinition(io, file));
  return { definition, ...(flags.given('public') && { public: flags.on('public') }) };
}

const runFlags = {
  ...inputFlag,
  ...under('The run', {
    'run-name': {
      type: 'string',
      hint: 'NAME',
      about: 'name of the run',
      usual: 'the name of the workflow with a few letters',
    },
  }),
  wait: { type: 'boolean', on: true, about: 'wait for the end of the run, and print its output' },
  'wait-timeout': { type: 'string', hint: 'DURATION', about: 'time to wait', usual: 'no limit' },
} as const satisfies FlagTable;

const run: Verb = {
  about: 'run a workflow, wait for its end and print its output',
  words: 'NAME',
  flags: runFlags,
  examples: [
    `ctl workflow run order --input '{"item":7}' # run it with an input`,
    'ctl workflow run order --input @order.json --wait=false # print the name of the run, and do not wait',
  ],
  async run(context) {
    const { flags, io, cluster } = context;
    const { name, namespace } = await targetOf(context, 'workflows', oneWord(context, 'run'));
    const input = JSON.parse(await callBody(context, flags.text('input'))) as unknown;
    const runs = await targetOf(context, 'workflowruns', flags.text('run-name') ?? '');
    // A run of a workflow that does not exist would wait for the workflow.
    await cluster().get(targetPath({ ...runs, name, resource: await resourceOf(context, 'workflows') }));
    const metadata = {
      namespace,
      ...(runs.name === '' ? { generateName: `${name}-` } : { name: runs.name }),
    };
    const object = {
      apiVersion: 'minik8s.io/v1',
      kind: 'WorkflowRun',
      metadata,
      spec: { workflow: name, input },
    };
    const made = await cluster().send('POST', collectionPath(runs.resource, namespace), object);
    const target = { ...runs, name: textAt(made, 'metadata', 'name') };
    if (!flags.on('wait')) return io.out(`workflowrun/${target.name} created\n`);
    await printEnd(context, target);
  },
};

const wait: Verb = {
  about: 'wait for the end of a run, and print its output',
  words: 'RUN',
  flags: { 'wait-timeout': runFlags['wait-timeout'] },
  examples: ['ctl workflow wait order-x7k2p --wait-timeout=5m # give up after five minutes'],
  run: async (context) =>
    printEnd(context, await targetOf(context, 'workflowruns', oneWord(context, 'wait', 'run'))),
};

const stop: Verb = {
  about: 'stop a run and cancel its tasks',
  words: 'RUN',
  examples: ["ctl workflow stop order-x7k2p --cause 'the customer cancelled' # stop it with a reason"],
  flags: under('The run', {
    error: { type: 'string', hint: 'NAME', about: 'error name of the stopped run' },
    cause: { type: 'string', hint: 'TEXT', about: 'reason for people to read' },
  }),
  async run(context) {
    const { flags, io, cluster } = context;
    const target = await targetOf(context, 'workflowruns', oneWord(context, 'stop', 'run'));
    const phase = textAt(await cluster().get(targetPath(target)), 'status', 'phase');
    if (isOver(phase)) throw new Error(`workflowrun/${target.name} has ended already: ${phase}`);
    const [error, cause] = [flags.text('error'), flags.text('cause')];
    const spec = { stop: { ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) } };
    await cluster().send('PATCH', targetPath(target), { spec }, patchTypes.merge);
    io.out(`workflowrun/${target.name} is being stopped\n`);
  },
};

const history: Verb = {
  about: 'print the history of a run: each state with its input, output or error',
  words: 'RUN',
  examples: [
    'ctl workflow history order-x7k2p # see what happened in which state',
    'ctl workflow history order-x7k2p -o yaml # print all entries in full',
  ],
  flags: {
    output: { ...outputFlag.output, hint: 'json|yaml', about: 'print all entries in full', usual: 'a table' },
  },
  async run(context) {
    const { flags, io, palette, cluster } = context;
    const target = await targetOf(context, 'workflowruns', oneWord(context, 'history', 'run'));
    const format = objectFormat(flags.oneOf('output', ['json', 'yaml'] as const));
    const { entries, begun } = await historyOf(context, target, await cluster().get(targetPath(target)));
    if (format) return io.out(format({ entries }));
    io.out(new TableWriter(palette).format(historyRows(entries.map(entryOf), begun), historyHeaders));
  },
};

/** Returns the history: the entries that were moved out of the run, then those in the run. */
async function historyOf(context: VerbContext, { namespace, name }: ObjectTarget, object: JsonObject) {
  const resource = await resourceOf(context, 'workflowhistories');
  const { uid } = recordAt(object, 'metadata');
  const path = listPath({ resource, namespace, fieldSelector: undefined, labelSelector: undefined });
  const own = recordsAt(object, 'status', 'history');
  const moved = numberAt(object, 'status', 'historyCount') > own.length;
  const chunks = moved ? recordsAt(await context.cluster().get(path), 'items') : [];
  const before = chunks
    .filter((chunk) => textAt(chunk, 'spec', 'run') === name)
    .filter((chunk) => recordsAt(chunk, 'metadata', 'ownerReferences').some((owner) => owner.uid === uid))
    .flatMap((chunk) => recordsAt(chunk, 'spec', 'entries'));
  const byId = new Map([...before, ...own].map((entry) => [numberAt(entry, 'id'), entry]));
  const entries = [...byId.keys()].toSorted((a, b) => a - b).map((id) => byId.get(id) as JsonObject);
  return { entries, begun: Date.parse(textAt(entries[0], 'time') || textAt(object, 'status', 'startTime')) };
}

const entryOf = (entry: JsonObject): Entry => ({
  id: numberAt(entry, 'id'),
  time: Date.parse(textAt(entry, 'time')),
  type: textAt(entry, 'type'),
  state: textAt(entry, 'state'),
  task: textAt(entry, 'task'),
  detail: entry.detail,
  input: entry.input,
  output: entry.output,
});

const graph: Verb = {
  about: 'draw the states of a workflow, or of a definition in a file',
  words: ['NAME', '--definition FILE'],
  examples: [
    'ctl workflow graph order # draw it as text',
    'ctl workflow graph --definition order.yaml -o mermaid # draw a file for a web page',
  ],
  flags: {
    ...definitionFlag,
    output: {
      ...outputFlag.output,
      hint: 'text|dot|mermaid',
      about: 'output format: text, Graphviz or Mermaid',
      usual: 'text',
    },
  },
  async run(context) {
    const format = context.flags.oneOf('output', ['text', 'dot', 'mermaid'] as const) ?? 'text';
    context.io.out(drawn(await definitionOf(context, 'graph'), format));
  },
};

const test: Verb = {
  about: 'run a definition on this machine, with the results of tasks from a file',
  words: ['NAME --answers FILE', '--definition FILE --answers FILE'],
  examples: [
    'ctl workflow test --definition order.yaml --answers answers.yaml # try a definition before it is stored',
  ],
  flags: {
    ...definitionFlag,
    ...inputFlag,
    answers: {
      type: 'string',
      hint: 'FILE',
      about:
        'task results by state name or function:NAME: {"output": JSON}, {"error": NAME}, or a list of these',
    },
  },
  async run(context) {
    const { io, flags } = context;
    const definition = await definitionOf(context, 'test');
    const input = JSON.parse(await callBody(context, flags.text('input'))) as Json;
    const file = flags.text('answers');
    const answers = readAnswers(file === undefined ? {} : await readValue(io, file));
    const now = io.clock.now();
    const thread = createExpressionThread(io.clock);
    const entries: Entry[] = [];
    const onHistory = (found: readonly (Entry & { readonly way?: string })[]) =>
      entries.push(...found.map((entry) => ({ ...entry, task: entry.way })));
    const options = { definition, name: flags.words[0] ?? 'test', input, answers, now, onHistory };
    try {
      const { evaluate } = thread;
      const state = await runLocally({ ...options, random: io.random, evaluate, signal: io.signal });
      if (state.status !== 'Succeeded') {
        const { error = '', cause = '' } = state.failure ?? {};
        throw new Error(`the run ${ends[state.status] ?? state.status}: ${error}${cause && `: ${cause}`}`);
      }
      printJson(io, state.output ?? null);
    } finally {
      // The history goes to standard error, since a program may read the output.
      io.err(new TableWriter().format(historyRows(entries, now), historyHeaders));
      await thread.stop();
    }
  },
};

/**
 * Returns the definition in a file, or of the named workflow. It is checked here, so that a file needs no
 * server.
 */
async function definitionOf(context: VerbContext, verb: string) {
  const { flags, io, cluster } = context;
  const [file, [word, ...more]] = [flags.text('definition'), flags.words];
  if ((file === undefined) === (word === undefined) || more.length > 0)
    throw new UsageError(`ctl workflow ${verb}: say one workflow: NAME, or --definition FILE`);
  if (file !== undefined) return checkedDefinition(await readDefinition(io, file));
  const object = await cluster().get(targetPath(await targetOf(context, 'workflows', word ?? '')));
  return checkedDefinition(valueAt(object, 'spec', 'definition'));
}

const resourceOf = async ({ cluster }: VerbContext, plural: string) =>
  findResource(await cluster().resources(), `${plural}.v1.minik8s.io`);

async function targetOf(context: VerbContext, plural: string, name: string): Promise<ObjectTarget> {
  const resource = await resourceOf(context, plural);
  return { resource, namespace: context.cluster().namespace, name, manifest: undefined };
}

function oneWord({ flags }: VerbContext, verb: string, what = 'workflow'): string {
  const [word, ...more] = flags.words;
  if (word === undefined || more.length > 0)
    throw new UsageError(`ctl workflow ${verb}: say which ${what}: ${what === 'run' ? 'RUN' : 'NAME'}`);
  return word;
}

const of = (verb: Verb, plural: string, own: Pick<Verb, 'about' | 'words' | 'examples'>): Verb => ({
  ...verb,
  ...own,
  firstWords: [`${plural}.minik8s.io`],
});

export const workflows: VerbGroup = {
  about: 'manage workflows in Amazon States Language, and their runs',
  group: 'Functions, Workflows and Slurm',
  examples: [
    'ctl workflow create order --definition order.yaml # create it',
    `ctl workflow run order --input '{"item":7}' # run it`,
    'ctl workflow runs # list the runs',
  ],
  verbs: {
    create,
    update,
    get: of(get, 'workflows', {
      about: 'list workflows, or print one',
      words: '[NAME...]',
      examples: ['ctl workflow get order -o yaml # print a workflow with its definition'],
    }),
    runs: of(get, 'workflowruns', {
      about: 'list the runs of workflows, or print one',
      words: '[RUN...]',
      examples: ['ctl workflow runs # list the runs', 'ctl workflow runs -w # follow their states'],
    }),
    describe: of(describe, 'workflows', {
      about: 'explain the state of workflows: steps, last runs and last events',
      words: '[NAME]',
      examples: ['ctl workflow describe order # see the states and the last runs'],
    }),
    run,
    wait,
    history,
    stop,
    graph,
    test,
    delete: of(remove, 'workflows', {
      about: 'delete workflows with their runs',
      words: ['NAME...', '--all'],
      examples: ['ctl workflow delete order # delete a workflow'],
    }),
  },
};
