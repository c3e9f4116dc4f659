/** The commands of the executable, each loaded when it is called; one line per command. */
import type { Entry } from './dispatch.ts';
import { ctlFeatures } from './features/ctl.ts';
import { calledAs } from './link-name.ts';
import { adviceOnWord } from './roles/client-words.ts';
import { kubernetesFields } from './roles/kubernetes-fields.ts';
import { versionCommand } from './roles/version.ts';

export const commands: Readonly<Record<string, Entry>> = {
  install: {
    about: 'install minik8s as a service of this machine',
    load: async () => (await import('./roles/install.ts')).command,
  },
  up: {
    about: 'run a whole cluster on this machine',
    load: async () => (await import('./roles/up.ts')).command,
  },
  master: { about: 'run a control plane', load: async () => (await import('./roles/master.ts')).command },
  masters: {
    about: 'list and remove the masters of a cluster',
    load: async () => (await import('./roles/masters.ts')).command,
  },
  token: {
    about: 'manage the bootstrap tokens with which machines join',
    load: async () => (await import('./roles/token.ts')).processCommand(),
  },
  user: {
    about: 'manage the users of the cluster',
    load: async () => (await import('./roles/user.ts')).processCommand(),
  },
  node: {
    about: 'join a cluster and run its pods',
    load: async () => (await import('./roles/node.ts')).command,
  },
  status: {
    about: 'show whether minik8s runs on this machine, and whether it is healthy',
    load: async () => (await import('./roles/status.ts')).processCommand(),
  },
  stop: {
    about: 'stop the minik8s of this machine; its pods keep running',
    load: async () => (await import('./roles/stop.ts')).processCommand(),
  },
  logs: {
    about: "print minik8s' own log, by component and level",
    load: async () => (await import('./roles/logs.ts')).processCommand(),
  },
  upgrade: {
    about: 'replace the installed minik8s by another version',
    load: async () => (await import('./roles/upgrade.ts')).command,
  },
  reset: {
    about: 'remove everything minik8s made on this machine',
    load: async () => (await import('./roles/reset.ts')).command,
  },
  uninstall: {
    about: 'remove what minik8s install made on this machine',
    load: async () => (await import('./roles/uninstall.ts')).command,
  },
  backup: {
    about: 'create, list, verify and restore backups of a cluster',
    load: async () => (await import('./roles/backup.ts')).command,
  },
  recover: {
    about: 'continue with one master alone after the loss of the others',
    load: async () => (await import('./roles/recover.ts')).command,
  },
  doctor: {
    about: 'find what keeps the cluster from working, and how to mend it',
    load: async () => (await import('./roles/doctor.ts')).processCommand(),
  },
  certs: {
    about: 'check the certificates of this machine, and rotate the authority',
    load: async () => (await import('./roles/certs.ts')).command,
  },
  'support-bundle': {
    about: 'collect diagnostic data, without secrets',
    load: async () => (await import('./roles/support-bundle.ts')).processCommand(),
  },
  ctl: {
    about: 'kubectl-compatible client',
    like: 'kubectl',
    load: async () => {
      const client = (await import('./cli/ctl.ts')).processCommand({
        kubernetesFields,
        features: ctlFeatures,
        ...(calledAs && { calledAs }),
      });
      return {
        ...client,
        adviceOnWord: async (word: string, rest: readonly string[]) =>
          (await adviceOnWord(word, rest)) ?? withoutCtl(word, rest),
      };
    },
  },
  'slurm-client': {
    about: 'client of a Slurm cluster, for the pods of SlurmJobs',
    load: async () => (await import('./roles/slurm-client.ts')).command,
  },
  completion: {
    about: 'print the completion script of a shell: bash, zsh or fish',
    load: async () => (await import('./cli/completion/commands.ts')).command,
  },
  __complete: {
    about: 'print the candidates for the last word of a command line',
    hidden: true,
    load: async () => (await import('./cli/completion/commands.ts')).completeCommand(commands),
  },
  samples: {
    about: 'write the samples of the docs to a folder',
    load: async () => (await import('./roles/samples.ts')).command,
  },
  licenses: {
    about: 'print the licences of the software in this executable',
    load: async () => (await import('./roles/licenses.ts')).command,
  },
  version: {
    about: 'print the version',
    load: async () => versionCommand,
  },
};

/** Returns advice for a word after `minik8s ctl` that is a command of minik8s itself. */
const withoutCtl = (word: string, rest: readonly string[]): string | undefined =>
  Object.hasOwn(commands, word) && !commands[word]?.hidden
    ? `did you mean minik8s ${[word, ...rest].join(' ')}, without ctl?`
    : undefined;

/** Advice for words that are commands of similar programs and not of this one. */
export const otherWords: Readonly<Record<string, string>> = {
  ...alike(['start', 'init', 'cluster'], 'minik8s up starts a cluster on this machine'),
  ...alike(['down', 'halt', 'shutdown'], 'minik8s stop stops the minik8s of this machine'),
  ...alike(['info'], 'minik8s status shows whether minik8s runs on this machine, and where it keeps what'),
  ...alike(['ps'], 'minik8s status shows this machine, minik8s ctl get pods -A the pods'),
  ...alike(['server', 'controller'], 'minik8s master runs a control plane, minik8s up a whole cluster'),
  ...alike(
    ['agent', 'join'],
    'minik8s node joins a cluster, with the lines that minik8s token create prints',
  ),
  ...alike(['check', 'diagnose'], 'minik8s doctor finds what keeps the cluster from working'),
  ...alike(['kubectl'], 'minik8s ctl is the client'),
};

function alike(words: readonly string[], advice: string): Record<string, string> {
  return Object.fromEntries(words.map((word) => [word, advice]));
}
