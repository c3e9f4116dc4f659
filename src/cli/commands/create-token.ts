/** `ctl create token`: prints a token of a service account, on standard output only. */
import { UsageError } from '../../base/usage-error.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import { textAt } from '../objects/objects.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb } from '../verb.ts';

const kinds = ['Node', 'Pod', 'Secret'] as const;

const flags = {
  ...printFlags,
  audience: {
    type: 'string',
    hint: 'NAME',
    about: 'audience of the token; may be repeated',
    usual: 'the API server',
  },
  duration: { type: 'string', hint: 'TIME', about: 'lifetime of the token; at least 10m', usual: '1h' },
  'bound-object-kind': {
    type: 'string',
    hint: kinds.join('|'),
    about: 'kind of the object to bind the token to',
    usual: 'none',
  },
  'bound-object-name': { type: 'string', hint: 'NAME', about: 'name of the object to bind the token to' },
  'bound-object-uid': {
    type: 'string',
    hint: 'UID',
    about: 'UID of the object to bind the token to',
    usual: 'UID of the existing object',
  },
} as const satisfies FlagTable;

export const createToken: Verb = {
  about: 'request a token of a service account, and print it',
  words: 'SERVICEACCOUNT',
  flags,
  examples: [
    'ctl create token robot # print a token that is valid for an hour',
    'ctl create token robot --duration=24h --audience=shop # choose its lifetime and audience',
  ],
  async run({ io, flags: given, cluster }) {
    const [name, ...more] = given.words;
    if (!name || more.length > 0)
      throw new UsageError(
        `ctl create token: exactly one NAME is required, got ${given.words.length}: the name of a service account`,
      );
    const spec = specOf(given);
    const format = printedFormat(given);
    const server = cluster();
    const path = `/api/v1/namespaces/${encodeURIComponent(server.namespace)}/serviceaccounts/${encodeURIComponent(name)}/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec };
    const answer = await server.send('POST', path, body);
    const token = textAt(answer, 'status', 'token');
    if (!token) throw new Error('failed to create token: no token in server response');
    if (format) io.out(format(answer));
    // A program that reads standard output gets the token without a newline.
    else io.out(io.columns?.out === undefined ? token : `${token}\n`);
  },
};

function specOf(flags: Flags): object {
  const audiences = flags.texts('audience');
  if (audiences.includes('')) throw new UsageError('--audience must not be an empty string');
  const duration = flags.duration('duration') ?? 0;
  if (duration % 1000 !== 0)
    throw new UsageError('--duration cannot be expressed in units less than seconds');
  const boundObjectRef = boundObjectOf(flags);
  return {
    ...(audiences.length > 0 && { audiences }),
    ...(duration > 0 && { expirationSeconds: duration / 1000 }),
    ...(boundObjectRef && { boundObjectRef }),
  };
}

/** Returns the reference to the object that the token is bound to; undefined if there is none. */
function boundObjectOf(flags: Flags): object | undefined {
  const kind = flags.oneOf('bound-object-kind', kinds);
  const [name, uid] = [flags.text('bound-object-name'), flags.text('bound-object-uid')];
  if (!kind && (name || uid))
    throw new UsageError(
      `--bound-object-${name ? 'name' : 'uid'} can only be set if --bound-object-kind is provided`,
    );
  if (!kind) return undefined;
  if (!name) throw new UsageError('--bound-object-name is required if --bound-object-kind is provided');
  return { apiVersion: 'v1', kind, name, ...(uid && { uid }) };
}
