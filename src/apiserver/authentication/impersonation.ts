/**
 * Impersonation (`kubectl --as`): a request is served as another user if the sender is authorized to
 * impersonate that user, and each of the requested groups, uids and extra fields (upstream:
 * endpoints/filters/impersonation.go). A request with an impersonation header that cannot be parsed is
 * rejected, because the answer would show the sender's own rights. Pure except for the calls of `authorize`.
 */
import {
  type ServiceAccountName,
  serviceAccountGroups,
  serviceAccountOf,
} from '../../apimachinery/account-user.ts';
import { checkDns1123Label, checkDns1123Subdomain } from '../../apimachinery/names.ts';
import { newBadRequest, newForbidden } from '../../apimachinery/status-error.ts';
import { type AccessRequest, type Authorize, refusal } from '../authorization/authorizer.ts';
import { anonymousUser, authenticatedGroup, type UserInfo, unauthenticatedGroup } from '../request/user.ts';

/** A header as received: its name in any case, and each byte of its value as one character. */
export type Field = readonly [name: string, value: string];

const prefix = /^impersonate-/i;
const extraPrefix = 'impersonate-extra-';

/**
 * Returns the impersonation headers, from a list of alternating names and values as received, or from
 * Headers, which join headers of the same name.
 */
export function impersonationFields(from: readonly string[] | Headers): readonly Field[] {
  return from instanceof Headers ? fieldsOfHeaders(from) : fieldsAsReceived(from);
}

function fieldsOfHeaders(headers: Headers): Field[] {
  const found: Field[] = [];
  for (const [name, value] of headers) if (prefix.test(name)) found.push([name, value]);
  return found;
}

function fieldsAsReceived(list: readonly string[]): Field[] {
  const found: Field[] = [];
  for (const [i, name] of list.entries())
    if (i % 2 === 0 && prefix.test(name)) found.push([name, list[i + 1] ?? '']);
  return found;
}

/** The identity that a request asks for. */
interface Wanted {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/**
 * Returns the user that the request is served as. Throws BadRequest (400) for headers that name no user, and
 * Forbidden (403) if `sender` is not authorized to impersonate.
 */
export async function impersonated(
  sender: UserInfo,
  fields: readonly Field[],
  authorize: Authorize,
): Promise<UserInfo> {
  const wanted = readFields(fields);
  const account = accountOf(wanted.user);
  for (const part of partsOf(wanted, account)) {
    const access: AccessRequest = { type: 'resource', user: sender, verb: 'impersonate', ...part };
    const decision = await authorize(access);
    if (decision.allowed) continue;
    const plural = part.resource.replace(/\/.*/s, '');
    throw newForbidden({ group: part.group, plural }, part.name, refusal(access, decision));
  }
  const own = account && wanted.groups.length === 0 ? serviceAccountGroups(account.namespace) : wanted.groups;
  return {
    name: wanted.user,
    ...(wanted.uid && { uid: wanted.uid }),
    groups: [...own, ...groupsToAdd(wanted.user, own)],
    ...(wanted.extra.size > 0 && { extra: Object.fromEntries(wanted.extra) }),
  };
}

type Part = Pick<Extract<AccessRequest, { type: 'resource' }>, 'group' | 'resource' | 'namespace' | 'name'>;

/** Yields the resources that the sender must be authorized to impersonate, each checked separately. */
function* partsOf(
  { user, uid, groups, extra }: Wanted,
  account: ServiceAccountName | undefined,
): Generator<Part> {
  if (account) yield { group: '', resource: 'serviceaccounts', ...account };
  else yield { group: '', resource: 'users', namespace: '', name: user };
  for (const name of groups) yield { group: '', resource: 'groups', namespace: '', name };
  const group = 'authentication.k8s.io';
  for (const [key, values] of extra)
    for (const name of values) yield { group, resource: `userextras/${key}`, namespace: '', name };
  if (uid) yield { group, resource: 'uids', namespace: '', name: uid };
}

/**
 * Adds system:authenticated to every user but the anonymous, unless the groups already include it or
 * system:unauthenticated.
 */
function groupsToAdd(user: string, groups: readonly string[]): string[] {
  if (user === anonymousUser) return groups.includes(unauthenticatedGroup) ? [] : [unauthenticatedGroup];
  const isGiven = groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup);
  return isGiven ? [] : [authenticatedGroup];
}

/**
 * Returns the ServiceAccount that a user name stands for; undefined for any other name, also for one that no
 * account can have.
 */
function accountOf(user: string): ServiceAccountName | undefined {
  const account = serviceAccountOf(user);
  if (!account) return undefined;
  const { namespace, name } = account;
  const isName = checkDns1123Label(namespace).length === 0 && checkDns1123Subdomain(name).length === 0;
  return isName ? account : undefined;
}

/**
 * Parses the headers. Upstream takes the first of two users and ignores headers that it does not support;
 * here both are rejected.
 */
function readFields(fields: readonly Field[]): Wanted {
  const single = { 'impersonate-user': '', 'impersonate-uid': '' };
  const groups: string[] = [];
  const extra = new Map<string, string[]>();
  for (const [header, bytes] of fields) {
    const name = header.toLowerCase();
    const value = textOf(header, bytes);
    if (name === 'impersonate-group') groups.push(value);
    else if (name === 'impersonate-user' || name === 'impersonate-uid')
      single[name] = onlyValue(header, single[name], value);
    else if (isExtraField(name)) addExtra(extra, name, value);
    else
      throw newBadRequest(
        `the header ${header} is not known: there are Impersonate-User, Impersonate-Group, Impersonate-Uid and Impersonate-Extra-KEY`,
      );
  }
  const { 'impersonate-user': user, 'impersonate-uid': uid } = single;
  if (user === '')
    throw newBadRequest(
      'requested to impersonate a group, a uid or extra fields without a user: send Impersonate-User too',
    );
  return { user, uid, groups, extra };
}

/** Returns the value; throws a BadRequest if it is empty, or if the same header had another one before. */
function onlyValue(header: string, before: string, value: string): string {
  if (before || value === '') throw newBadRequest(`the header ${header} must be there once, with a value`);
  return value;
}

function addExtra(extra: Map<string, string[]>, name: string, value: string): void {
  const key = decoded(name.slice(extraPrefix.length));
  const values = extra.get(key) ?? [];
  values.push(value);
  extra.set(key, values);
}

const isExtraField = (name: string) => name.startsWith(extraPrefix) && name.length > extraPrefix.length;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Names are UTF-8, as they are in certificates and in roles. */
function textOf(header: string, bytes: string): string {
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    throw newBadRequest(`the value of the header ${header} is not UTF-8`);
  }
}

/**
 * Decodes percent-encoding, which stands for characters that a header name cannot contain. A key with broken
 * encoding is returned unchanged.
 */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
