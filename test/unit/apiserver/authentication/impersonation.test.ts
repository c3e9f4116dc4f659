/** The user of a request with impersonation headers, and the rights that its sender needs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import {
  type Field,
  impersonated,
  impersonationFields,
} from '../../../../src/apiserver/authentication/impersonation.ts';
import type { UserInfo } from '../../../../src/apiserver/request/user.ts';

const sender: UserInfo = { name: 'root', groups: ['admins'] };
const [known, unknown] = ['system:authenticated', 'system:unauthenticated'];
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

/** Returns the authorization requests, one line each; `refuses` returns true for those that are denied. */
async function act(fields: readonly Field[], refuses: (line: string) => boolean = () => false) {
  const asked: string[] = [];
  const user = await impersonated(sender, fields, async (access) => {
    assert.equal(access.type, 'resource');
    assert.equal(access.user, sender);
    const { verb, group, resource, namespace, name } = access as Extract<typeof access, { type: 'resource' }>;
    const line = `${verb} ${group}/${resource} ${namespace}/${name}`;
    asked.push(line);
    return { allowed: !refuses(line), reason: '' };
  });
  return { user, asked };
}
const as = (...fields: string[]): Field[] =>
  fields.map((field) => [`Impersonate-${field.split('=')[0]}`, field.slice(field.indexOf('=') + 1)]);

describe('a user', () => {
  const rows: readonly [title: string, fields: readonly Field[], asked: readonly string[], UserInfo][] = [
    ['is known', as('User=bob'), ['users /bob'], { name: 'bob', groups: [known] }],
    [
      'is in the groups of the headers',
      as('User=bob', 'Group=a', 'Group=b'),
      ['users /bob', 'groups /a', 'groups /b'],
      { name: 'bob', groups: ['a', 'b', known] },
    ],
    [
      'is authenticated or anonymous depending on the named groups',
      as('User=bob', `Group=${unknown}`),
      ['users /bob', `groups /${unknown}`],
      { name: 'bob', groups: [unknown] },
    ],
    [
      'has the group of authenticated users only once',
      as('User=bob', `Group=${known}`, 'Group=a'),
      ['users /bob', `groups /${known}`, 'groups /a'],
      { name: 'bob', groups: [known, 'a'] },
    ],
    [
      'may be anonymous',
      as('User=system:anonymous'),
      ['users /system:anonymous'],
      { name: 'system:anonymous', groups: [unknown] },
    ],
    [
      'may be anonymous explicitly',
      as('User=system:anonymous', `Group=${unknown}`),
      ['users /system:anonymous', `groups /${unknown}`],
      { name: 'system:anonymous', groups: [unknown] },
    ],
    [
      'keeps all bytes of the name, including a byte order mark',
      as(`User=${utf8('\uFEFFbob')}`),
      ['users /\uFEFFbob'],
      { name: '\uFEFFbob', groups: [known] },
    ],
    [
      'may be an account with the groups of accounts',
      as('User=system:serviceaccount:ns:bot'),
      ['serviceaccounts ns/bot'],
      {
        name: 'system:serviceaccount:ns:bot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', known],
      },
    ],
    [
      'may be an account with other groups',
      as('User=system:serviceaccount:ns:bot', 'Group=a'),
      ['serviceaccounts ns/bot', 'groups /a'],
      { name: 'system:serviceaccount:ns:bot', groups: ['a', known] },
    ],
    [
      'has a uid and extra fields, each of which is authorized',
      as('User=bob', 'Uid=7', 'Extra-Scopes=read', 'extra-scopes=write', 'Extra-Acme.com%2FProject=x'),
      [
        'users /bob',
        'userextras/scopes /read',
        'userextras/scopes /write',
        'userextras/acme.com/project /x',
        'uids /7',
      ],
      {
        name: 'bob',
        uid: '7',
        groups: [known],
        extra: { scopes: ['read', 'write'], 'acme.com/project': ['x'] },
      },
    ],
    [
      'keeps an extra key with broken encoding, and gets capital letters only by encoding',
      as('User=bob', 'Extra-a%zz=1', 'Extra-%41B=2', 'Extra-%ff=3'),
      ['users /bob', 'userextras/a%zz /1', 'userextras/Ab /2', 'userextras/%ff /3'],
      { name: 'bob', groups: [known], extra: { 'a%zz': ['1'], Ab: ['2'], '%ff': ['3'] } },
    ],
    [
      'has names in UTF-8, spaces and commas',
      as(`User=${utf8('Jürgen')}`, 'Group=a, b', 'Group= ', 'Group='),
      ['users /Jürgen', 'groups /a, b', 'groups / ', 'groups /'],
      { name: 'Jürgen', groups: ['a, b', ' ', '', known] },
    ],
    [
      'gets only its own extra fields, even for a key named __proto__',
      as('User=bob', 'Extra-__proto__=x'),
      ['users /bob', 'userextras/__proto__ /x'],
      { name: 'bob', groups: [known], extra: { ['__proto__']: ['x'] } },
    ],
  ];
  for (const [title, fields, asked, user] of rows)
    test(title, async () => {
      const done = await act(fields);
      const group = (line: string) => (/^(userextras|uids)/.test(line) ? 'authentication.k8s.io' : '');
      assert.deepEqual(
        done.asked,
        asked.map((line) => `impersonate ${group(line)}/${line}`),
      );
      assert.deepEqual(done.user, user);
    });

  for (const name of [
    'system:serviceaccount:ns',
    'system:serviceaccount:a:b:c',
    'system:serviceaccount::b',
    'system:serviceaccount:NS:bot',
    'system:serviceaccount:ns:b/c',
    'System:serviceaccount:ns:bot',
  ])
    test(`with the name ${name} is not an account`, async () => {
      const { asked, user } = await act(as(`User=${name}`));
      assert.deepEqual(asked, [`impersonate /users /${name}`]);
      assert.deepEqual(user.groups, [known]);
    });
});

describe('an impersonated request is refused', () => {
  const everything = as('User=bob', 'Group=a', 'Group=system:masters', 'Extra-x=1', 'Uid=7');
  for (const [part, message] of [
    [
      'users /bob',
      'users "bob" is forbidden: User "root" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    [
      'groups /system:masters',
      'groups "system:masters" is forbidden: User "root" cannot impersonate resource "groups" in API group "" at the cluster scope',
    ],
    [
      'userextras/x /1',
      'userextras.authentication.k8s.io "1" is forbidden: User "root" cannot impersonate resource "userextras/x" in API group "authentication.k8s.io" at the cluster scope',
    ],
    [
      'uids /7',
      'uids.authentication.k8s.io "7" is forbidden: User "root" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
    ],
  ] as const)
    test(`if one part is not allowed: ${part}`, async () => {
      await assert.rejects(
        act(everything, (line) => line.endsWith(part)),
        (error: StatusError) => {
          assert.deepEqual([error.status.code, error.status.message], [403, message]);
          return true;
        },
      );
    });

  test('for an account with the namespace in the message', async () => {
    await assert.rejects(
      act(as('User=system:serviceaccount:ns:bot'), () => true),
      {
        message:
          'serviceaccounts "bot" is forbidden: User "root" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"',
      },
    );
  });

  for (const [title, fields, why] of [
    ['a group without a user', as('Group=a'), /without a user/],
    ['a uid without a user', as('Uid=7'), /without a user/],
    ['an extra field without a user', as('Extra-x=1'), /without a user/],
    ['a user without a name', as('User='), /Impersonate-User must be there once, with a value/],
    ['two users', as('User=bob', 'User=root'), /must be there once/],
    ['two user headers', as('user=bob', 'USER=bob'), /must be there once/],
    ['two uids', as('User=bob', 'Uid=1', 'Uid=2'), /must be there once/],
    ['an extra field without a key', as('User=bob', 'Extra-=1'), /Impersonate-Extra- is not known/],
    ['a unknown header', as('User=bob', 'Groups=a'), /Impersonate-Groups is not known/],
    [
      'a long unknown header',
      as('User=bob', 'Extras-of-everybody=a'),
      /Impersonate-Extras-of-everybody is not known/,
    ],
    ['an unknown header alone', as('Users=bob'), /Impersonate-Users is not known/],
    ['bytes that are not valid UTF-8', as('User=b\xff'), /not UTF-8/],
    ['a group of bytes that are not valid UTF-8', as('User=bob', 'Group=\xc3'), /not UTF-8/],
  ] as const)
    test(`as invalid if it has ${title}`, async () => {
      const asked: string[] = [];
      await assert.rejects(
        act(fields, (line) => asked.push(line) < 0),
        (error: StatusError) => {
          assert.ok(error instanceof StatusError);
          assert.equal(error.status.code, 400);
          assert.match(error.message, why);
          return true;
        },
      );
      assert.deepEqual(asked, []);
    });
});

test('only impersonation headers are returned, in any case and in their order', () => {
  const raw = [
    'Host',
    'a',
    'IMPERSONATE-user',
    'bob',
    'X-Impersonate-User',
    'c',
    'impersonate-Group',
    'd',
    'Impersonate',
    'e',
  ];
  assert.deepEqual(impersonationFields(raw), [
    ['IMPERSONATE-user', 'bob'],
    ['impersonate-Group', 'd'],
  ]);
  assert.deepEqual(
    impersonationFields(
      new Headers([
        ['Impersonate-User', 'bob'],
        ['Accept', 'x'],
      ]),
    ),
    [['impersonate-user', 'bob']],
  );
  assert.deepEqual(impersonationFields(['X', 'Impersonate-User']), [], 'a value is no name');
  assert.deepEqual(impersonationFields([]), []);
});
