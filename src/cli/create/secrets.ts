/** `ctl create secret generic`, `docker-registry` and `tls`. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { goJson } from '../../apimachinery/go-json.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { type Generator, type Given, newMetadata } from './generator.ts';
import { contentHash, entriesOf, fileSourceFlag, hashFlag, sourceFlags } from './sources.ts';

const genericGenerator: Generator = {
  about: 'create a Secret from files, directories or literal values',
  resource: 'secrets',
  flags: {
    ...sourceFlags,
    ...hashFlag,
    type: { type: 'string', hint: 'TYPE', about: 'type of the Secret', usual: 'Opaque' },
  },
  examples: [
    'secret generic login --from-literal=user=ann --from-file=password.txt # take a value and a file',
  ],
  make(given) {
    const { flags } = given;
    if (flags.given('from-env-file') && (flags.given('from-file') || flags.given('from-literal')))
      throw new UsageError('from-env-file cannot be combined with from-file or from-literal');
    return secretOf(given, flags.text('type') ?? '', entriesOf(given, 'Secret'));
  },
};

const registryKey = '.dockerconfigjson';

const registryGenerator: Generator = {
  about: 'create a Secret with the credentials of an image registry',
  resource: 'secrets',
  flags: {
    'docker-server': { type: 'string', hint: 'URL', about: 'address of the registry', usual: dockerHub() },
    'docker-username': { type: 'string', hint: 'NAME', about: 'user of the registry' },
    'docker-password': {
      type: 'string',
      hint: 'PASSWORD',
      about: 'password of the registry; visible to all users of this machine, unlike --from-file',
    },
    'docker-email': { type: 'string', hint: 'EMAIL', about: 'e-mail address of the user' },
    ...fileSourceFlag,
    ...hashFlag,
  },
  usage: '(--docker-username=NAME --docker-password=PASSWORD | --from-file=FILE)',
  examples: [
    'secret docker-registry mine --docker-username=ann --docker-password=PASSWORD # log in with a password',
    'secret docker-registry mine --from-file=.dockerconfigjson=config.json # take the file of docker login',
  ],
  make(given) {
    const { flags } = given;
    const [server, username] = [flags.text('docker-server') ?? dockerHub(), flags.text('docker-username')];
    const password = flags.text('docker-password');
    const type = 'kubernetes.io/dockerconfigjson';
    if (flags.given('from-file')) return secretOf(given, type, entriesOf(given, 'Secret'));
    if (!username || !password || !server)
      throw new UsageError(
        'either --from-file or the combination of --docker-username, --docker-password and --docker-server is required',
      );
    const email = flags.text('docker-email');
    const auth = Buffer.from(`${username}:${password}`).toString('base64');
    const entry = { username, password, ...(email && { email }), auth };
    const value = Buffer.from(goJson({ auths: { [server]: entry } }));
    return secretOf(given, type, new Map([[registryKey, value]]));
  },
};

/** Returns the address under which clients of Docker store the credentials of Docker Hub. */
function dockerHub(): string {
  return 'https://index.docker.io/v1/';
}

const tlsGenerator: Generator = {
  about: 'create a Secret with a certificate and its private key',
  resource: 'secrets',
  flags: {
    cert: { type: 'string', hint: 'FILE', about: 'certificate in PEM' },
    key: { type: 'string', hint: 'FILE', about: 'private key in PEM' },
    ...hashFlag,
  },
  usage: '--cert=FILE --key=FILE',
  examples: ['secret tls web --cert=web.crt --key=web.key # take a certificate and its key'],
  make(given) {
    const { flags, files } = given;
    const [cert, key] = [flags.text('cert'), flags.text('key')];
    if (!cert || !key) throw new UsageError('key and cert must be specified');
    const [certificate, privateKey] = [files.read(cert), files.read(key)];
    checkPair(certificate, privateKey);
    return secretOf(
      given,
      'kubernetes.io/tls',
      new Map([
        ['tls.crt', certificate],
        ['tls.key', privateKey],
      ]),
    );
  },
};

/** Throws UsageError unless the private key matches the certificate. */
function checkPair(certificate: Uint8Array, key: Uint8Array): void {
  let isPair: boolean;
  try {
    isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(Buffer.from(key)));
  } catch (error) {
    throw new UsageError(`tls: cannot read the certificate or the key: ${errorMessage(error)}`);
  }
  if (!isPair) throw new UsageError('tls: private key does not match public key');
}

function secretOf(
  { name, flags }: Given,
  type: string,
  entries: ReadonlyMap<string, Uint8Array>,
): JsonObject {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const data = Object.fromEntries(sorted.map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
  const hash = () => contentHash({ data, kind: 'Secret', name, type });
  return {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: newMetadata(flags.on('append-hash') ? `${name}-${hash()}` : name),
    ...(sorted.length > 0 && { data }),
    ...(type && { type }),
  };
}

export const secretGenerators: Readonly<Record<string, Generator>> = {
  generic: genericGenerator,
  'docker-registry': registryGenerator,
  tls: tlsGenerator,
};
