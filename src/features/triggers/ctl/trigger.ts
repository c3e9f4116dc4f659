/** `ctl trigger`: manages triggers, which call functions on events. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { patchTypes } from '../../../apimachinery/patch.ts';
import { UsageError } from '../../../base/usage-error.ts';
import { callBody } from '../../../cli/call-body.ts';
import { remove } from '../../../cli/commands/delete.ts';
import { describe } from '../../../cli/commands/describe.ts';
import { get } from '../../../cli/commands/get.ts';
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
import { forEachReported } from '../../../cli/for-each-reported.ts';
import { findResource } from '../../../cli/objects/discovery.ts';
import { listPath, type ObjectTarget, targetPath } from '../../../cli/objects/object-target.ts';
import { metadataOf, recordsAt, textAt } from '../../../cli/objects/objects.ts';
import { printBody } from '../../../cli/print-body.ts';
import { printedFormat } from '../../../cli/printers/object-format.ts';
import type { Verb, VerbContext, VerbGroup } from '../../../cli/verb.ts';
import { collectionPath } from '../../../client/resource-path.ts';
import { isDeadLetter, replayPatch } from '../../../views/trigger-events.ts';
import { triggerFlags, triggerSpec } from './trigger-object.ts';

async function targetOf({ cluster }: VerbContext, type: string, name: string): Promise<ObjectTarget> {
  const resource = findResource(await cluster().resources(), `${type}.v1.minik8s.io`);
  return { resource, namespace: cluster().namespace, name };
}

function oneWord({ flags }: VerbContext, verb: string): string {
  const [word, ...more] = flags.words;
  if (word === undefined || more.length > 0)
    throw new UsageError(`ctl trigger ${verb}: say which trigger: NAME`);
  return word;
}

/**
 * Returns a text about the conditions under which files are watched and the place where their state is shown;
 * empty for a trigger with another source. Nodes report that state only after the trigger is created.
 */
function watchedWhere(flags: Flags, name: string): string {
  const [folder, claim] = [flags.text('file-folder'), flags.text('file-claim')];
  const see = `minik8s ctl describe trigger ${name} shows whether it is\n`;
  if (folder !== undefined) return `${folder} is watched on each node whose --watch-folder allows it; ${see}`;
  return claim === undefined ? '' : `${claim} is watched once the claim is bound to a volume; ${see}`;
}

const create: Verb = {
  about: 'call a function or run a workflow on events',
  words: [
    'NAME --function NAME (--schedule | --path | --object | --result-of | --file-claim | --file-folder)',
    'NAME --workflow NAME (--schedule | --path | --object | --result-of | --file-claim | --file-folder)',
  ],
  flags: { ...triggerFlags, ...dryRunFlag, ...outputFlag },
  examples: [
    "ctl trigger create nightly --function report --schedule '0 3 * * *' # call it every night",
    'ctl trigger create hook --workflow order --path /order # run it for each HTTP request',
    'ctl trigger create watch --function audit --object v1/Pod --change Created # call it for each new pod',
  ],
  async run(context) {
    const { flags, io } = context;
    const { resource, namespace, name } = await targetOf(context, 'triggers', oneWord(context, 'create'));
    const spec = triggerSpec(flags);
    const object: JsonObject = {
      apiVersion: 'minik8s.io/v1',
      kind: 'Trigger',
      metadata: { name, namespace },
      spec,
    };
    const format = printedFormat(flags);
    const dryRun = dryRunOf(flags);
    const path = collectionPath(resource, namespace) + writeQuery(dryRun);
    const written = dryRun === 'client' ? object : await context.cluster().send('POST', path, object);
    io.out(format?.(written) ?? `trigger/${name} created${dryRunSuffix[dryRun]}\n`);
    if (dryRun === 'none' && format === undefined) io.err(watchedWhere(flags, name));
  },
};

const eventFlags = {
  ...outputFlag,
  'no-headers': { type: 'boolean', about: 'do not print the header line' },
} as const satisfies FlagTable;

const events: Verb = {
  about: 'list events that are not delivered, and dead letters',
  words: '[NAME]',
  flags: eventFlags,
  examples: ['ctl trigger events nightly # list the events of one trigger'],
  async run(context) {
    const { flags } = context;
    const [name, ...more] = flags.words;
    if (more.length > 0) throw new UsageError('ctl trigger events: say at most one trigger: [NAME]');
    const format = flags.text('output');
    const argv = [
      'triggerevents.minik8s.io',
      ...(name === undefined ? [] : [`--field-selector=spec.trigger=${name}`]),
      ...(format === undefined ? [] : [`--output=${format}`]),
      ...(flags.on('no-headers') ? ['--no-headers'] : []),
    ];
    await get.run({ ...context, flags: new Flags({ ...connectionFlags, ...get.flags }, argv) });
  },
};

const fire: Verb = {
  about: 'send a test event, and print its id once it is stored',
  words: 'NAME [JSON | @FILE]',
  examples: [`ctl trigger fire nightly '{"test":true}' # send an event with data`],
  async run(context) {
    const { flags, io, cluster } = context;
    const [name, text, ...more] = flags.words;
    if (name === undefined || more.length > 0)
      throw new UsageError('ctl trigger fire: say which trigger, and at most one argument: NAME [JSON]');
    const target = await targetOf(context, 'triggers', name);
    const body = await callBody(context, text);
    const method = await methodOf(context, target);
    const headers = { 'content-type': 'application/json', accept: '*/*' };
    const answer = await cluster().open({
      method,
      path: targetPath(target, 'invoke'),
      headers,
      body,
    });
    let printed = '';
    await printBody(
      {
        out: (part) => {
          printed += part;
        },
      },
      answer.body,
    );
    io.out(`event ${textAt(JSON.parse(printed) as JsonObject, 'id')} of trigger/${name} is stored\n`);
  },
};

/** Returns a method that the trigger accepts and that has a body. */
async function methodOf(
  context: VerbContext,
  target: ObjectTarget,
): Promise<'POST' | 'PUT' | 'PATCH' | 'DELETE'> {
  const trigger = (await context.cluster().get(targetPath(target))) as {
    readonly spec?: { readonly http?: { readonly methods?: readonly string[] } };
  };
  const taken = trigger.spec?.http?.methods ?? ['POST'];
  const found = (['POST', 'PUT', 'PATCH', 'DELETE'] as const).find((method) => taken.includes(method));
  if (found === undefined)
    throw new Error(`trigger/${target.name} takes ${taken.join(', ')} only, which has no body`);
  return found;
}

const replayFlags = {
  all: { type: 'boolean', about: 'all dead letters of the trigger' },
} as const satisfies FlagTable;

const replay: Verb = {
  about: 'deliver dead letters again',
  words: 'TRIGGER (EVENT... | --all)',
  flags: replayFlags,
  examples: ['ctl trigger replay nightly --all # deliver all dead letters of a trigger again'],
  async run(context) {
    const { flags, io, report } = context;
    const [trigger, ...names] = flags.words;
    if (trigger === undefined || names.length > 0 === flags.on('all'))
      throw new UsageError('ctl trigger replay: say which: TRIGGER EVENT..., or --all TRIGGER');
    const dead = await deadLetters(context, trigger);
    const wanted = flags.on('all') ? dead : dead.filter((event) => names.includes(metadataOf(event).name));
    for (const name of names)
      if (!wanted.some((event) => metadataOf(event).name === name))
        report(new Error(`trigger/${trigger} has no dead letter ${JSON.stringify(name)}`));
    await forEachReported(context, wanted, async (event) => {
      await setGoing(context, event);
      io.out(`triggerevent/${metadataOf(event).name} is delivered again\n`);
    });
    if (flags.on('all') && wanted.length === 0) io.out(`trigger/${trigger} has no dead letters\n`);
  },
};

async function deadLetters(context: VerbContext, trigger: string): Promise<readonly JsonObject[]> {
  const { resource, namespace } = await targetOf(context, 'triggerevents', '');
  // A trigger that does not exist is reported as not found.
  await context.cluster().get(targetPath(await targetOf(context, 'triggers', trigger)));
  const fieldSelector = `spec.trigger=${trigger}`;
  const list = await context
    .cluster()
    .get(listPath({ resource, namespace, fieldSelector, labelSelector: undefined }));
  return recordsAt(list, 'items').filter(isDeadLetter);
}

async function setGoing(context: VerbContext, event: JsonObject): Promise<void> {
  const target = await targetOf(context, 'triggerevents', metadataOf(event).name);
  await context.cluster().send('PATCH', targetPath(target), replayPatch(event), patchTypes.merge);
}

const ofTriggers = (verb: Verb, own: Pick<Verb, 'about' | 'words' | 'examples'>): Verb => ({
  ...verb,
  ...own,
  firstWords: ['triggers.minik8s.io'],
});

export const triggers: VerbGroup = {
  about: 'manage triggers, which call functions or run workflows on events',
  group: 'Functions, Workflows and Slurm',
  examples: [
    "ctl trigger create nightly --function report --schedule '0 3 * * *' # call a function every night",
    'ctl trigger events nightly # see what was not delivered',
  ],
  verbs: {
    create,
    get: ofTriggers(get, {
      about: 'list triggers, or print one',
      words: '[NAME...]',
      examples: ['ctl trigger get # list the triggers with their sources'],
    }),
    describe: ofTriggers(describe, {
      about: 'explain the state of triggers: source, deliveries, dead letters and last events',
      words: '[NAME]',
      examples: ['ctl trigger describe nightly # see why a trigger does not fire'],
    }),
    events,
    fire,
    replay,
    delete: ofTriggers(remove, {
      about: 'delete triggers with their events',
      words: ['NAME...', '--all'],
      examples: ['ctl trigger delete nightly # delete a trigger'],
    }),
  },
};
