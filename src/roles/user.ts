/**
 * `minik8s user`: users of the cluster. A user is a client certificate with the user's name, and a binding
 * that grants a role; without the binding the certificate grants nothing. Both are written through the API as
 * the kubeconfig's user.
 */
import { X509Certificate } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isNotFound } from '../apimachinery/status-error.ts';
import { errorMessage } from '../base/log.ts';
import { rfc3339 } from '../base/time.ts';
import { UsageError } from '../base/usage-error.ts';
import { resolveConnection } from '../cli/connection/connection.ts';
import { processIo } from '../cli/ctl.ts';
import { noFeatures } from '../cli/ctl-features.ts';
import { type Flags, type FlagTable, under } from '../cli/flags/flags.ts';
import { forEachReported } from '../cli/for-each-reported.ts';
import { TableWriter } from '../cli/printers/table-writer.ts';
import type { CtlIo, Verb, VerbContext } from '../cli/verb.ts';
import { type AnyCommand, toCommand } from '../cli/verb-command.ts';
import { formatKubeconfig } from '../client/kubeconfig.ts';
import { singleKubeconfig } from '../client/kubeconfig-connection.ts';
import { replaceFile } from '../os/replace-file.ts';
import { kubernetesFields } from './kubernetes-fields.ts';
import { bindings, grant } from './users/bindings.ts';
import { orderCertificate, type UserSubject } from './users/certificate.ts';

/** Minimum lifetime that a signer grants, in milliseconds. */
const minTtl = 600 * 1000;

const createFlags = under('The user', {
  group: { type: 'string', hint: 'GROUP', about: 'group of the user; may be repeated' },
  role: {
    type: 'string',
    hint: 'ROLE',
    about: 'role to grant, such as view, edit or admin; --namespace limits it to one namespace',
    usual: 'nothing',
  },
  file: {
    type: 'string',
    hint: 'FILE',
    about: 'kubeconfig file to write; must not exist',
    usual: 'NAME.kubeconfig',
  },
  ttl: {
    type: 'string',
    hint: 'TIME',
    about: 'lifetime of the certificate, such as 24h',
    usual: 'a year',
  },
  'allow-system': {
    type: 'boolean',
    about: 'allow names and groups that begin with `system:`, which Kubernetes reserves',
  },
});

const create: Verb = {
  about: 'create a key, a certificate and a kubeconfig for a user, and grant a role',
  words: 'NAME',
  flags: createFlags,
  examples: [
    'user create ann --role=edit -n shop # let a user change the objects of a namespace',
    'user create ann --role=view --group=staff --ttl=720h # choose a group and a lifetime',
  ],
  async run(context) {
    const { cluster, flags, io } = context;
    const subject = subjectOf(flags);
    const { name } = subject;
    const path = resolve(flags.text('file') ?? `${name}.kubeconfig`);
    const connection = resolveConnection(io, flags);
    await reserve(path);
    try {
      const pair = await orderCertificate(cluster(), io, subject);
      const granted = await grantRole(context, name);
      const { server, ca, insecureSkipTlsVerify, tlsServerName } = connection;
      const config = singleKubeconfig(name, {
        ...{ server, cert: pair.certificate, key: pair.key },
        ...(ca && { ca }),
        ...(insecureSkipTlsVerify && { insecureSkipTlsVerify }),
        ...(tlsServerName && { tlsServerName }),
      });
      await replaceFile(path, formatKubeconfig(inNamespace(config, name, flags)), { mode: 0o600 });
      if (granted !== undefined) io.out(`${granted}\n`);
      const until = rfc3339(Date.parse(new X509Certificate(pair.certificate).validTo));
      io.out(`user ${name} can authenticate until ${until} with ${path}\n`);
      if (granted === undefined)
        io.err(`Warning: user ${name} has no role: grant one with minik8s user grant ${name} --role ROLE\n`);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  },
};

/** Returns the name that the command was given; throws UsageError unless there is one valid name. */
function nameOf(flags: Flags, verb: string): string {
  const [name, ...more] = flags.words;
  if (name === undefined || more.length > 0) throw new UsageError(`minik8s user ${verb}: give one name`);
  // The name becomes part of a binding's name and of a file name.
  if (!/^[^\s/%\p{Cc}]{1,200}$/u.test(name) || name === '.' || name === '..')
    throw new UsageError(
      `minik8s user ${verb}: ${JSON.stringify(name)} is not a valid name: use letters, digits, - . _ @ :`,
    );
  return name;
}

/** Throws UsageError for a name that is not allowed, or only allowed explicitly. */
function subjectOf(flags: Flags): UserSubject {
  const name = nameOf(flags, 'create');
  const groups = flags.texts('group');
  if (groups.some((group) => group === '')) throw new UsageError('--group: expected the name of a group');
  const own = [name, ...groups].find((word) => word.startsWith('system:'));
  if (own !== undefined && !flags.on('allow-system'))
    throw new UsageError(
      `${own}: names that begin with system: are reserved by Kubernetes, and may have rights that no role shows; --allow-system allows them`,
    );
  const ttl = flags.duration('ttl');
  if (ttl !== undefined && ttl < minTtl) throw new UsageError('--ttl: expected at least 10m');
  return { name, groups, seconds: ttl === undefined ? undefined : Math.floor(ttl / 1000) };
}

/** Creates the file. This is the first step, so that nothing else is done if the file cannot be written. */
async function reserve(path: string): Promise<void> {
  try {
    await using _ = await open(path, 'wx', 0o600);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw new UsageError(
      code === 'EEXIST'
        ? `${path} already exists and is not overwritten; choose another file with --file`
        : `cannot write ${path}: ${errorMessage(error)}`,
    );
  }
}

/** Grants the role of --role. Resolves to a line about the result, or to undefined without the flag. */
async function grantRole({ cluster, flags }: VerbContext, user: string): Promise<string | undefined> {
  const role = flags.text('role');
  return role ? grant(cluster(), { user, role, namespace: flags.text('namespace') }) : undefined;
}

/** Sets the default namespace of the user's commands. */
function inNamespace(config: ReturnType<typeof singleKubeconfig>, name: string, flags: Flags) {
  const namespace = flags.text('namespace');
  if (!namespace) return config;
  return { ...config, contexts: { [name]: { ...config.contexts[name], namespace } } };
}

const grantFlags = {
  role: {
    type: 'string',
    hint: 'ROLE',
    about: 'role to grant, such as view, edit or admin; --namespace limits it to one namespace',
  },
} as const satisfies FlagTable;

const give: Verb = {
  about: 'grant a role to a user',
  words: 'NAME --role ROLE',
  flags: grantFlags,
  examples: ['user grant ann --role=view -n shop # grant a role in a namespace'],
  async run(context) {
    const name = nameOf(context.flags, 'grant');
    const granted = await grantRole(context, name);
    if (granted === undefined)
      throw new UsageError('minik8s user grant: --role is required, such as --role view');
    context.io.out(`${granted}\n`);
  },
};

const list: Verb = {
  about: 'list the users that have a role',
  examples: ['user list # list the users with their roles'],
  async run({ cluster, io, palette }) {
    const found = await bindings(cluster());
    if (found.length === 0) {
      io.err('no users found\n');
      return;
    }
    const rows = found
      .map(({ user, role, namespace }) => [user, role, namespace || '<all>'])
      .sort((a, b) => (a.join('\0') < b.join('\0') ? -1 : 1));
    io.out(new TableWriter(palette).format(rows, ['USER', 'ROLE', 'NAMESPACE']));
  },
};

const remove: Verb = {
  about: 'remove all roles of users, so that their certificates grant nothing',
  words: 'NAME...',
  examples: ['user delete ann # remove the roles of a user'],
  async run({ cluster, flags, io, report }) {
    if (flags.words.length === 0) throw new UsageError('minik8s user delete: give the name of a user');
    const all = await bindings(cluster());
    for (const name of flags.words) {
      const own = all.filter(({ user }) => user === name);
      if (own.length === 0)
        report(
          new Error(
            `user ${name} has no role bindings that minik8s user has created; minik8s user list shows the users that have some`,
          ),
        );
      await forEachReported({ io, report }, own, (binding) => removeBinding(binding, { cluster, io }));
    }
  },
};

async function removeBinding(
  { path, title }: { readonly path: string; readonly title: string },
  { cluster, io }: Pick<Parameters<Verb['run']>[0], 'cluster' | 'io'>,
): Promise<void> {
  try {
    await cluster().send('DELETE', path, undefined);
    io.out(`${title} deleted\n`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

export const userVerbs = { create, grant: give, list, delete: remove };

export const userCommand = (io: CtlIo): AnyCommand =>
  toCommand(
    {
      about: 'manage the users of the cluster',
      examples: ['user create ann --role=edit -n shop # let a user change the objects of a namespace'],
      verbs: userVerbs,
    },
    io,
    'user',
  );

/** Returns the command for this process. Call it once. */
export const processCommand = (): AnyCommand =>
  userCommand(processIo({ kubernetesFields, features: noFeatures }));
