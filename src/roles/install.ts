/** `minik8s install`: makes this machine a part of a cluster, as a service that starts at every boot. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import { type CommandDef, defineCommand } from 'citty';
import { errorMessage } from '../base/log.ts';
import { completionScript } from '../cli/completion/scripts.ts';
import { carryOut, runInstalled } from '../installation/carry-out.ts';
import { digestOfFile, digestOfText, readMachine } from '../installation/machine-facts.ts';
import { installPlan } from '../installation/plan/install-plan.ts';
import { requireNoOther } from '../installation/plan/refusals.ts';
import { configFileOf, type Role, roles, runsPods } from '../installation/plan/role.ts';
import { afterStart, inSequence } from '../installation/plan/sequence.ts';
import { describeStep, type Step } from '../installation/plan/step.ts';
import { controlHere } from '../installation/services.ts';
import { requireWritablePlaces } from '../installation/writable-places.ts';
import { storedMembership } from '../node-bootstrap/join.ts';
import { NodeFiles } from '../node-bootstrap/node-files.ts';
import { systemExec } from '../os/exec.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { confirmed } from './confirmation.ts';
import { holderOf } from './data-directory.ts';
import { requireOwnData } from './data-owner.ts';
import { claimInstallation } from './install/one-installation.ts';
import { addSystemPrograms } from './install/system-programs.ts';
import { giveCallerKubeconfig } from './install/user-kubeconfig.ts';
import { readWanted, rowsOf, type Wanted } from './install/wanted.ts';
import { requireDocker, requireRoot } from './preflight.ts';
import { settingArgs } from './settings/settings.ts';

const aboutOf: Readonly<Record<Role, string>> = {
  up: 'install a whole cluster on this machine',
  master: 'install a control plane',
  node: 'install a node that joins a cluster; the token is read from MINIK8S_TOKEN or from the file',
};

const examplesOf: Readonly<Record<Role, readonly string[]>> = {
  up: [
    'install up # install a cluster, and start it',
    'install up --link-kubectl # also make a link with the name of kubectl',
    'install up --dry-run # print what would be done',
  ],
  master: ['install master # install a control plane, and start it'],
  node: ['install node --config ./node.yaml # join with the lines that minik8s token create prints'],
};

/**
 * Returns the properties of a flag that citty does not have: its description, default and place in the help.
 */
const shown = (name: keyof typeof flagHeadings, description: string, usual: string) => ({
  description,
  usual,
  group: flagHeadings[name],
});

const ownFlags = {
  start: {
    type: 'boolean',
    default: true,
    ...shown('start', 'start the service now; otherwise it starts at the next boot', 'on'),
  },
  'link-kubectl': {
    type: 'boolean',
    ...shown('link-kubectl', 'make a link /usr/local/bin/kubectl to minik8s', 'no link'),
  },
  'dry-run': { type: 'boolean', ...shown('dry-run', 'print what would be done, and do nothing', 'do it') },
  yes: { type: 'boolean', alias: 'y', ...shown('yes', 'install missing packages without asking', 'ask') },
} as const;

const joinFlag = {
  join: {
    type: 'string',
    valueHint: 'URL,…',
    ...shown('join', 'URLs of the masters, as --server', '--server'),
  },
} as const;

// citty's type for a command whose arguments differ from role to role.
// biome-ignore lint/suspicious/noExplicitAny: CommandDef is invariant in its arguments, as in command-page.ts.
const commandOf = (role: Role): CommandDef<any> =>
  defineCommand({
    meta: { description: aboutOf[role] },
    ...{ examples: examplesOf[role] },
    args: {
      ...settingArgs(rowsOf[role], configFileOf[role]),
      ...(role === 'node' && joinFlag),
      ...ownFlags,
    },
    async run({ args }) {
      const flags: Flags = {
        yes: args.yes === true,
        dryRun: args['dry-run'] === true,
        starts: args.start !== false,
        linksKubectl: args['link-kubectl'] === true,
      };
      requireRoot();
      addSystemPrograms(process.env);
      if (!isSea())
        throw new Error(
          'only the built file can be installed: run npm run build, and give the command to dist/minik8s',
        );
      const sources = { flags: args, environment: process.env, directory: process.cwd(), warn };
      const release = await claimInstallation();
      try {
        await install(await readWanted(role, sources), flags);
      } finally {
        await release();
      }
    },
  });

export const command = defineCommand({
  meta: { description: 'install minik8s on this machine, as a service that starts at every boot' },
  ...{
    examples: [
      'install up # install a whole cluster',
      'install node --config ./node.yaml # install a node that joins a cluster',
    ],
  },
  subCommands: Object.fromEntries(roles.map((role) => [role, commandOf(role)])),
});

interface Flags {
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly starts: boolean;
  readonly linksKubectl: boolean;
}

const say = (text: string) => process.stdout.write(`${text}\n`);
const warn = (message: string) => process.stderr.write(`warning: ${message}\n`);

async function install(wanted: Wanted, { yes, dryRun, starts, linksKubectl }: Flags): Promise<void> {
  const isDockerThere = () =>
    requireDocker(wanted.dockerSocket).then(
      () => true,
      () => false,
    );
  const machine = await readMachine({ exec: systemExec, isDockerThere }, wanted.role);
  const source = process.execPath;
  const sourceDigest = (await digestOfFile(source)) ?? '';
  const completion = completionScript('bash');
  const request = { ...wanted, source, sourceDigest, completion, starts, linksKubectl };
  const plan = installPlan(machine, request, digestOfText);
  requireNoOther(holderOf(wanted.dataDir), machine);
  requireOwnData(wanted.dataDir, wanted.role);
  await requireSameCluster(wanted);
  const lines = plan.steps.map(describeStep).filter((line) => line !== undefined);
  if (wanted.fromEnvironment.length > 0)
    say(`settings from the environment: ${wanted.fromEnvironment.join(', ')}`);
  if (lines.length === 0) say('minik8s is installed already: nothing to do');
  else say([`minik8s install ${wanted.role}:`, ...lines.map((line) => `  ${line}`)].join('\n'));
  if (dryRun) return;
  if (!yes && plan.steps.some(({ kind }) => kind === 'install-packages')) await confirm();
  const steps = inSequence(plan);
  await requireWritablePlaces(steps);
  await carryOutAll(steps);
  const user = plan.isFirstStart && wanted.role !== 'node' ? await giveKubeconfig(wanted) : undefined;
  await carryOutAll(afterStart(plan));
  if (starts) await announce(wanted, plan.isFirstStart, user);
}

/** Rejects if this machine is a node of another cluster, or under another name: its pods would be lost. */
async function requireSameCluster({ dataDir, joins }: Wanted): Promise<void> {
  if (joins) await storedMembership({ ...joins, files: new NodeFiles(join(dataDir, 'node')) });
}

/** Rejects unless the user agrees. */
async function confirm(): Promise<void> {
  const otherwise =
    'install asks before it installs packages, but standard input is not a terminal; give --yes to install them';
  if (!(await confirmed('Do this?', otherwise))) throw new Error('nothing was changed');
}

async function carryOutAll(steps: readonly Step[]): Promise<void> {
  for (const step of steps) await carryOut(systemExec, step, warn);
}

const adminConfOf = ({ dataDir }: Wanted) => `${dataDir}/admin.conf`;

/** Gives the user of sudo a kubeconfig; resolves to the name and the path. */
const giveKubeconfig = (wanted: Wanted) =>
  giveCallerKubeconfig({
    ...{ exec: systemExec, environment: process.env, host: hostname(), warn },
    adminConf: adminConfOf(wanted),
  });

/**
 * Prints where the cluster is. The first start creates a token for the next machine; later starts create no
 * token. `user`: the user of sudo, who was given a kubeconfig.
 */
async function announce(
  wanted: Wanted,
  isFirstStart: boolean,
  user: Awaited<ReturnType<typeof giveKubeconfig>>,
): Promise<void> {
  const { role } = wanted;
  const adminConf = adminConfOf(wanted);
  if (role === 'node') {
    say(`minik8s node: ${await controlHere().status(systemExec)}`);
    return;
  }
  if (!isFirstStart) {
    say(`minik8s is ready; kubeconfig of root: ${adminConf}`);
    say('minik8s token create --print-install-command prints the line for the next machine');
    say('with --master as well, the line for a further master');
    return;
  }
  const more = user ? `, of ${user.name}: ${user.path}` : '';
  say(`minik8s is ready; kubeconfig of root: ${adminConf}${more}`);
  if (runsPods(role)) say('try: minik8s ctl get nodes');
  try {
    const line = await runInstalled(systemExec, [
      ...['token', 'create', '--print-install-command', '--kubeconfig', adminConf],
    ]);
    say(
      `to add a node within 24 hours, copy this file to the machine and run there as root:\n  ${line.trim()}`,
    );
    say('for a further master: minik8s token create --master --print-install-command');
  } catch (error) {
    warn(`no token for other machines (${errorMessage(error)}); minik8s token create makes one`);
  }
}
