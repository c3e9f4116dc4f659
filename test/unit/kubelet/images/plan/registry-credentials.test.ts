/** Credentials of pull secrets that match an image. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Secret } from '../../../../../src/api/core/v1/secret.ts';
import { credentialsFor } from '../../../../../src/kubelet/images/plan/registry-credentials.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const auth = (text: string) => ({ auth: base64(text) });

const secret = (content: unknown, kind = 'dockerconfigjson', key = `.${kind}`) =>
  ({
    metadata: { name: 'pull' },
    type: `kubernetes.io/${kind}`,
    data: { [key]: base64(typeof content === 'string' ? content : JSON.stringify(content)) },
  }) as unknown as Secret;

/** Returns `name:password` of the credentials that match the image. */
const found = (image: string, auths: object) =>
  credentialsFor(image, [secret({ auths })]).map(({ username, password }) => `${username}:${password}`);

describe('pull secrets', () => {
  for (const [image, server, fits] of [
    ['quay.io/a/b:1', 'quay.io', true],
    ['quay.io/a/b:1', 'https://quay.io', true],
    ['quay.io/a/b:1', 'http://quay.io/', true],
    ['quay.io/a/b:1', 'https://quay.io/v1/', true],
    ['quay.io/a/b@sha256:00', 'quay.io/v2/', true],
    ['quay.io/a/b:1', 'quay.io/a', true],
    ['quay.io/a/b:1', 'quay.io/b', false],
    ['quay.io/a/b:1', 'quay.io:443', false],
    ['quay.io:5000/a:1', 'quay.io:5000', true],
    ['quay.io:5000/a:1', 'quay.io', false],
    ['quay.io/a', 'other.io', false],
    ['a.quay.io/a', 'quay.io', false],
    ['a.quay.io/a', '*.quay.io', true],
    ['a.b.quay.io/a', '*.quay.io', false],
    ['a-b.quay.io/a', 'a*b.quay.io', true],
    ['a-b.quay.io/a', 'a*c.quay.io', false],
    ['evil.com/quay.io/a', 'quay.io', false],
    ['quay.io.evil.com/a', 'quay.io', false],
    ['busybox', 'https://index.docker.io/v1/', true],
    ['busybox', 'docker.io', true],
    ['user/app:1', 'https://index.docker.io/v1/', true],
    ['docker.io/user/app', 'https://index.docker.io/v1/', true],
    ['docker.io/user/app', 'docker.io/user', true],
    ['docker.io/user/app', 'docker.io/other', false],
    ['quay.io/a', 'https://index.docker.io/v1/', false],
    ['localhost/a', 'https://index.docker.io/v1/', false],
    ['localhost:5000/a', 'localhost:5000', true],
    ['127.0.0.1:5000/a:1', '127.0.0.1:5000', true],
    ['quay.io/a', '', false],
    ['quay.io/a', 'https://', false],
  ] as const) {
    it(`for the server ${JSON.stringify(server)} ${fits ? 'apply' : 'do not apply'} to ${image}`, () =>
      assert.deepEqual(found(image, { [server]: auth('me:word') }), fits ? ['me:word'] : []));
  }

  it('are returned with the most specific first, without duplicates', () => {
    const auths = {
      'quay.io': auth('host:1'),
      'quay.io/a/b': auth('exact:1'),
      'quay.io/a': auth('path:1'),
      'https://quay.io/': auth('host:1'),
      'other.io': auth('other:1'),
    };
    assert.deepEqual(found('quay.io/a/b:1', auths), ['exact:1', 'path:1', 'host:1']);
  });

  it('may have colons in the password, no padding, a separate name and password, and the older form', () => {
    assert.deepEqual(found('q.io/a', { 'q.io': auth('me:a:b') }), ['me:a:b']);
    assert.deepEqual(found('q.io/a', { 'q.io': { auth: base64('me:pässword').replace(/=+$/, '') } }), [
      'me:pässword',
    ]);
    assert.deepEqual(found('q.io/a', { 'q.io': { username: 'u', password: 'p' } }), ['u:p']);
    const older = secret({ 'q.io': auth('old:1') }, 'dockercfg');
    assert.deepEqual(credentialsFor('q.io/a', [older]), [{ username: 'old', password: '1' }]);
  });

  it('of another type or without content yield no credentials', () => {
    const content = { auths: { 'q.io': auth('me:1') } };
    for (const one of [
      secret(content, 'basic-auth'),
      secret(content, 'dockerconfigjson', 'other'),
      secret({}),
      secret({ auths: null }),
      secret({ auths: { 'q.io': null } }),
    ])
      assert.deepEqual(credentialsFor('q.io/a', [one]), []);
  });

  it('with invalid content are named in the message, without the content', () => {
    for (const content of [
      'no JSON: word',
      { auths: 'word' },
      { auths: { 'q.io': 'word' } },
      { auths: { 'q.io': { auth: '%word%' } } },
      { auths: { 'q.io': { auth: base64('word') } } },
    ])
      assert.throws(() => credentialsFor('q.io/a', [secret(content)]), {
        message: 'the image pull secret "pull" cannot be read',
      });
  });

  it('are matched quickly with any number of wildcards', () => {
    const auths = { [`${'*a'.repeat(2000)}.io`]: auth('me:1') };
    assert.deepEqual(found(`${'a'.repeat(5000)}b.io/x`, auths), []);
  });
});
