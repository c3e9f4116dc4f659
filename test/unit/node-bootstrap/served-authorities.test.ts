import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiRequest, Transport } from '../../../src/client/transport.ts';
import {
  parseAuthorities,
  type ServedAuthorities,
  watchServedAuthorities,
} from '../../../src/node-bootstrap/served-authorities.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';

const validity = { notBefore: 0, notAfter: 1e12 };
const [first, second] = [await createAuthority('a', 0, 1e12), await createAuthority('b', 0, 1e12)];
const leaf = await issueCertificate(first, { commonName: 'x', usages: ['client'], ...validity });
const both = `${first.certificate}\n${second.certificate}`;

test('the authorities are read, with the one that signs', () => {
  const served = { trusted: both, signer: second.certificate };
  assert.deepEqual(parseAuthorities(JSON.stringify({ ...served, phase: 'issue' })), served);
});

const bad: [what: string, body: unknown][] = [
  ['no authority', { trusted: '', signer: '' }],
  ['a signer that is not trusted', { trusted: first.certificate, signer: second.certificate }],
  [
    'a certificate that is not an authority',
    { trusted: `${both}\n${leaf.certificate}`, signer: first.certificate },
  ],
  ['values that are no texts', { trusted: [both], signer: 1 }],
];
for (const [what, body] of bad)
  test(`an answer with ${what} is refused`, () => {
    assert.throws(() => parseAuthorities(JSON.stringify(body)), /no authorities that can be read/);
  });

/** A transport whose server answers with these pieces. */
const answering = (status: number, type: string, ...pieces: string[]) => {
  const requests: string[] = [];
  const transport: Pick<Transport, 'request'> = {
    async request({ path }: ApiRequest) {
      requests.push(path);
      const body = (async function* () {
        for (const piece of pieces) yield Buffer.from(piece);
      })();
      return { status, header: (name) => (name === 'content-type' ? type : undefined), body };
    },
  };
  return { requests, transport: { ...transport, close: () => undefined } };
};

const before = { trusted: first.certificate, signer: first.certificate };
const during = { trusted: both, signer: second.certificate };
const never = new AbortController().signal;
const watching = async (transport: Transport) => {
  const taken: ServedAuthorities[] = [];
  const isWatched = await watchServedAuthorities(transport, async (served) => void taken.push(served), never);
  return { isWatched, taken };
};

test('a node takes every line of a watch, however the network cuts it', async () => {
  const text = [before, during].map((served) => `${JSON.stringify(served)}\n`).join('');
  const type = 'application/json;stream=watch';
  const { requests, transport } = answering(200, type, text.slice(0, 700), text.slice(700));
  assert.deepEqual(await watching(transport), { isWatched: true, taken: [before, during] });
  assert.deepEqual(requests, ['/minik8s/certificate-authority?watch=true']);
});

test('a server of an earlier version sends the authorities once, or has none', async () => {
  const once = answering(200, 'application/json', JSON.stringify(during));
  assert.deepEqual(await watching(once.transport), { isWatched: false, taken: [during] });
  const none = answering(404, 'text/plain', '404 page not found\n');
  assert.deepEqual(await watching(none.transport), { isWatched: false, taken: [] });
});

test('a watch that is refused or cut is an error, so that the node tries again', async () => {
  await assert.rejects(watching(answering(429, 'application/json', '{}').transport), /answers 429/);
  const cut = answering(200, 'application/json;stream=watch', JSON.stringify(before));
  await assert.rejects(watching(cut.transport));
});
