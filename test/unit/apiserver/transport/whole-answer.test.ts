import assert from 'node:assert/strict';
import { test } from 'node:test';
import { respond } from '../../../../src/apiserver/respond.ts';
import { WholeAnswer } from '../../../../src/apiserver/transport/whole-answer.ts';

const headers = { 'content-type': 'application/json', 'audit-id': '1' };
const text = '{"a":"ü"}';

for (const [what, body] of [
  ['text', text],
  ['bytes', Buffer.from(text)],
] as const) {
  const answer = () => new WholeAnswer(201, body, headers);

  test(`an answer of ${what} is read like any Response`, async () => {
    assert.equal(await answer().text(), text);
    assert.deepEqual(await answer().json(), { a: 'ü' });
    assert.deepEqual(Buffer.from(await answer().arrayBuffer()), Buffer.from(text));
    assert.deepEqual(Buffer.from(await answer().bytes()), Buffer.from(text));
    assert.equal(await (await answer().blob()).text(), text);
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer().body ?? []) chunks.push(chunk);
    assert.equal(Buffer.concat(chunks).toString(), text);
    const { status, headers: fields } = answer();
    assert.deepEqual([status, ...fields], [201, ['audit-id', '1'], ['content-type', 'application/json']]);
  });

  test(`an answer of ${what} is read once, and copied whole`, async () => {
    const read = answer();
    const copy = read.clone();
    assert.equal(read.bodyUsed, false);
    await read.text();
    assert.equal(read.bodyUsed, true);
    await assert.rejects(read.text(), TypeError);
    assert.equal(await copy.text(), text);
    const head = new Response(null, read);
    assert.deepEqual([head.status, head.headers.get('audit-id'), head.body], [201, '1', null]);
  });
}

test('a form is read as a form', async () => {
  const form = new WholeAnswer(200, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' });
  assert.deepEqual([...(await form.formData())], [['a', '1']]);
});

test('a complete body becomes a WholeAnswer; streams and empty bodies do not', () => {
  assert.ok(respond(200, text, headers) instanceof WholeAnswer);
  assert.ok(respond(200, Buffer.from(text), headers) instanceof WholeAnswer);
  assert.ok(!(respond(200, new ReadableStream(), headers) instanceof WholeAnswer));
  assert.equal(respond(200, null, headers).body, null);
});
