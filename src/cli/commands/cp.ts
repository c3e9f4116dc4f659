/** `ctl cp`: copies files to and from a container, with the tar program in the container. */
import { existsSync } from 'node:fs';
import { type CopyPlan, planCopy } from '../copy/cp-plan.ts';
import { download, isMissing, type Program, upload } from '../copy/transfer.ts';
import type { FlagTable } from '../flags/flags.ts';
import { findResource } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { chooseContainer, containerFlag, type Pod } from '../objects/pods.ts';
import { runExec } from '../streaming/exec.ts';
import { endWith } from '../streaming/run-command.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  ...containerFlag,
  retries: {
    type: 'string',
    hint: 'COUNT',
    about:
      'how often a copy from a container is resumed after a lost connection; below 0: no limit; the container needs sh and tail',
    usual: '0',
  },
  'no-preserve': { type: 'boolean', about: 'do not keep the owners and permissions of the local files' },
} as const satisfies FlagTable;

export const cp: Verb = {
  about: 'copy files to and from a container, which needs tar',
  group: 'Troubleshooting and Debugging Commands',
  words: ['FILE [NAMESPACE/]POD:PATH', '[NAMESPACE/]POD:PATH FILE'],
  flags: flagTable,
  examples: [
    'ctl cp app.conf web:/etc/app.conf # copy a file into a container',
    'ctl cp shop/web:/var/log/app ./log -c app # copy a directory out of one',
  ],
  async run(context) {
    const plan = planCopy(context.flags.words);
    if (plan.direction === 'to pod' && !existsSync(plan.local))
      throw new Error(`${plan.local} doesn't exist in local filesystem`);
    const { program, place } = await programIn(context, plan.remote);
    if (plan.direction === 'from pod' && (await isMissing(program, plan.remote.path)))
      throw new Error(`there is no ${plan.remote.path} in ${place}`);
    const { flags, io } = context;
    const code = await (plan.direction === 'to pod'
      ? upload({ io, program }, plan, !flags.on('no-preserve'))
      : download({ io, program }, plan, flags.whole('retries') ?? 0));
    endWith(context.io, code);
  },
};

interface Inside {
  readonly program: Program;
  /** The container in words, such as `container web of pod web-1`. */
  readonly place: string;
}

async function programIn(
  context: VerbContext,
  { namespace, pod: name }: CopyPlan['remote'],
): Promise<Inside> {
  const cluster = context.cluster();
  const resource = findResource(await cluster.resources(), 'pods');
  const target = { resource, namespace: namespace ?? cluster.namespace, name };
  const pod: Pod = { target, object: await cluster.get(targetPath(target)) };
  const container = chooseContainer(context, pod, 'exec into');
  return {
    place: `container ${container} of pod ${name}`,
    program: (command, stdio, stdin) =>
      runExec(context, target, { container, command, input: { stdin } }, stdio),
  };
}
