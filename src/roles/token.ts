/**
 * `minik8s token`: the tokens with which machines join. They are Secrets (upstream's bootstrap tokens),
 * written through the API as the kubeconfig's user. The secret half of a token is printed once, when the
 * token is created.
 */
import { randomInt } from 'node:crypto';
import { humanDuration } from '../apimachinery/age.ts';
import type { JsonObject } from '../apimachinery/equality.ts';
import { isAlreadyExists, isNotFound } from '../apimachinery/status-error.ts';
import { isIPv6 } from '../base/addresses.ts';
import { rfc3339 } from '../base/time.ts';
import { UsageError } from '../base/usage-error.ts';
import type { Cluster } from '../cli/connection/cluster.ts';
import { resolveConnection } from '../cli/connection/connection.ts';
import { processIo } from '../cli/ctl.ts';
import { noFeatures } from '../cli/ctl-features.ts';
import { doing } from '../cli/errors.ts';
import { under } from '../cli/flags/flags.ts';
import { forEachReported } from '../cli/for-each-reported.ts';
import type { Io } from '../cli/io.ts';
import { metadataOf, numberAt, recordsAt, textAt } from '../cli/objects/objects.ts';
import { TableWriter } from '../cli/printers/table-writer.ts';
import type { CtlIo, Verb, VerbContext } from '../cli/verb.ts';
import { type AnyCommand, toCommand } from '../cli/verb-command.ts';
import { masterUsage } from '../kube-apiserver/authentication/bootstrap-token.ts';
import { authorityHash } from '../pki/authority-hash.ts';
import { kubernetesFields } from './kubernetes-fields.ts';

const secrets = '/api/v1/namespaces/kube-system/secrets';
const apiEndpoints =
  '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name%3Dkubernetes';
const secretPrefix = 'bootstrap-token-';
const tokenType = 'bootstrap.kubernetes.io/token';
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
const defaultTtl = 24 * 3600 * 1000;
const minTtl = 60 * 1000;
/** A token for masters gives its holder the keys of the cluster, so its lifetime is short. */
const [masterTtl, maxMasterTtl] = [3600 * 1000, 24 * 3600 * 1000];

const createFlags = under('The token', {
  ttl: {
    type: 'string',
    hint: 'TIME',
    about: 'lifetime of the token, such as 30m or 24h; 0: never expires',
    usual: '24h; 1h with --master',
  },
  master: {
    type: 'boolean',
    about: 'create a token for a further master, and print the command that starts it',
  },
  description: { type: 'string', hint: 'TEXT', about: 'description of the token' },
  'print-join-command': {
    type: 'boolean',
    about: "print a join command instead of the lines for a node's configuration file",
  },
  'print-install-command': {
    type: 'boolean',
    about: 'print the command that installs minik8s on a machine and joins it',
  },
});

const create: Verb = {
  about: "create a token, and print the lines with which a node's configuration file joins",
  flags: createFlags,
  examples: [
    'token create # print the lines for the configuration file of a node',
    'token create --print-join-command # print the command that joins a machine',
    'token create --master --ttl=30m # create a token for a further master',
  ],
  async run({ flags, io, cluster }) {
    const isForMaster = flags.on('master');
    const ttl = ttlOf(flags.duration('ttl'), isForMaster);
    const hash = hashOf(io, flags);
    const terms = {
      ...(ttl > 0 && { expiration: rfc3339(io.clock.now() + ttl) }),
      [isForMaster ? masterUsage : 'usage-bootstrap-authentication']: 'true',
      description: flags.text('description') ?? (isForMaster ? 'for a further master' : ''),
    };
    // A dry run: a missing right to create tokens is reported first, and before anything is stored.
    await doing('cannot create a token', () => makeToken(cluster(), terms, '?dryRun=All'));
    const servers = await doing('cannot read the addresses of the masters', () => serversOf(cluster()));
    const server = servers.join(',');
    const token = await makeToken(cluster(), terms);
    const join = { token, server, hash };
    const role = isForMaster ? 'master' : 'node';
    if (flags.on('print-install-command')) io.out(joinLine(`./minik8s install ${role} --join`, join));
    else if (isForMaster) io.out(joinLine('minik8s master --join', join));
    else if (flags.on('print-join-command')) io.out(joinLine('minik8s node --server', join));
    else io.out(`server: ${server}\ntoken: ${token}\nca-cert-hash: ${hash}\n`);
  },
};

/**
 * Returns the lifetime in milliseconds; 0 for no expiration. Throws UsageError for one that is not allowed.
 */
function ttlOf(given: number | undefined, isForMaster: boolean): number {
  const ttl = given ?? (isForMaster ? masterTtl : defaultTtl);
  if (isForMaster && (ttl < minTtl || ttl > maxMasterTtl))
    throw new UsageError('--ttl: a token for masters lasts from 1m to 24h');
  if (ttl !== 0 && ttl < minTtl) throw new UsageError('--ttl: expected at least 1m, or 0 for no expiration');
  return ttl;
}

interface Join {
  readonly token: string;
  readonly server: string;
  readonly hash: string;
}

/**
 * Returns the command. The token is in a variable: every user of a machine can see the arguments of programs.
 */
const joinLine = (command: string, { token, server, hash }: Join) =>
  `MINIK8S_TOKEN=${token} ${command} ${server} --ca-cert-hash ${hash}\n`;

const list: Verb = {
  about: 'list the tokens, without their secrets',
  examples: ['token list # list the tokens'],
  async run({ io, palette, cluster }) {
    const query = new URLSearchParams({ fieldSelector: `type=${tokenType}` });
    const found = recordsAt(await cluster().get(`${secrets}?${query}`), 'items').filter((secret) =>
      metadataOf(secret).name.startsWith(secretPrefix),
    );
    if (found.length === 0) {
      io.err('no tokens found\n');
      return;
    }
    const rows = found.map((secret) => rowOf(secret, io.clock.now()));
    io.out(new TableWriter(palette).format(rows, ['ID', 'TTL', 'EXPIRES', 'DESCRIPTION']));
  },
};

const remove: Verb = {
  about: 'delete tokens; nodes that have already joined stay in the cluster',
  words: 'TOKEN...',
  examples: ['token delete abc123 # delete a token by its id'],
  async run(context) {
    const { words } = context.flags;
    if (words.length === 0)
      throw new UsageError('minik8s token delete: give the id of a token; minik8s token list shows them');
    const ids = words.map(idOf);
    await forEachReported(context, ids, (id) => removeOne(context, id));
  },
};

export const tokenCommand = (io: CtlIo): AnyCommand =>
  toCommand(
    {
      about: 'manage the bootstrap tokens with which machines join',
      examples: ['token create # print what a machine needs to join', 'token list # list the tokens'],
      verbs: { create, list, delete: remove },
    },
    io,
    'token',
  );

/** Returns the command for this process. Call it once. */
export const processCommand = (): AnyCommand =>
  tokenCommand(processIo({ kubernetesFields, features: noFeatures }));

/** Returns the id of a token, which may be given as the id alone or as the whole token. */
function idOf(word: string): string {
  const [, id] = /^([a-z0-9]{6})(?:\.[a-z0-9]{16})?$/.exec(word) ?? [];
  // The error does not repeat the word, because it may be a secret with a typing error.
  if (id === undefined)
    throw new UsageError('minik8s token delete: expected the id of a token, 6 letters or digits');
  return id;
}

async function removeOne({ cluster, io }: VerbContext, id: string): Promise<void> {
  try {
    await cluster().send('DELETE', `${secrets}/${secretPrefix}${id}`, undefined);
    io.out(`token ${id} deleted\n`);
  } catch (error) {
    throw isNotFound(error)
      ? new Error(`there is no token ${id}; minik8s token list shows all tokens`)
      : error;
  }
}

/**
 * Returns the hash of the authority's key that this kubeconfig trusts, which signed the servers'
 * certificates.
 */
function hashOf(io: Io, flags: VerbContext['flags']): string {
  const { ca } = resolveConnection(io, flags);
  if (!ca)
    throw new UsageError('the kubeconfig has no certificate-authority, so nodes could not verify the server');
  return authorityHash(ca);
}

/** Returns the addresses of all live masters, as pods and nodes reach them. */
async function serversOf(cluster: Cluster): Promise<readonly string[]> {
  // There is one slice for each port that masters use.
  const servers = recordsAt(await cluster.get(apiEndpoints), 'items').flatMap((slice) => {
    const port = numberAt(recordsAt(slice, 'ports')[0], 'port');
    return recordsAt(slice, 'endpoints').flatMap(({ addresses }) =>
      Array.isArray(addresses) ? addresses.map((address) => serverAt(String(address), port)) : [],
    );
  });
  if (servers.length === 0) throw new Error('no master has published its address yet; try again');
  return servers.sort();
}

const serverAt = (address: string, port: number) =>
  `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;

const draw = (length: number) => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');

/** Creates a token and resolves to it. `query` is that of the request, such as `?dryRun=All`. */
async function makeToken(
  cluster: Cluster,
  terms: Readonly<Record<string, string>>,
  query = '',
): Promise<string> {
  for (;;) {
    const [id, secret] = [draw(6), draw(16)];
    try {
      await cluster.send('POST', secrets + query, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `${secretPrefix}${id}`, namespace: 'kube-system' },
        type: tokenType,
        stringData: {
          'token-id': id,
          'token-secret': secret,
          ...terms,
        },
      });
      return `${id}.${secret}`;
    } catch (error) {
      // The chance that two ids are equal is one in two thousand million.
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

function rowOf(secret: JsonObject, now: number): string[] {
  const text = (key: string) => Buffer.from(textAt(secret, 'data', key), 'base64').toString('utf8');
  const expiration = text('expiration');
  const left = Date.parse(expiration) - now;
  const ttl = expiration === '' ? '<forever>' : left > 0 ? humanDuration(left) : '<expired>';
  return [text('token-id'), ttl, expiration || '<never>', text('description') || '<none>'];
}
