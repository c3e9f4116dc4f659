import assert from 'node:assert/strict';
import { it } from 'node:test';
import { expand, expandEach } from '../../../../../src/kubelet/environment/plan/expand.ts';

const env = new Map([
  ['A', '1'],
  ['EMPTY', ''],
  ['N(M', 'odd'],
  ['LONG', 'x'.repeat(100_000)],
]);
const lookUp = (name: string) => env.get(name);

for (const [text, expanded] of [
  ['$(A)', '1'],
  ['x$(A)y$(A)', 'x1y1'],
  ['$(EMPTY)', ''],
  ['$(NONE)', '$(NONE)'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$1'],
  ['$A {A} $', '$A {A} $'],
  ['$(A', '$(A'],
  ['$(A)$$$(A', '1$$(A'],
  ['$(A)$$$$', '1$$'],
  ['$(N(M)', 'odd'],
  ['$($(A)', '$($(A)'],
] as const) {
  it(`${text} is expanded to ${expanded}`, () => assert.equal(expand(text, lookUp), expanded));
}

it('unclosed `$(` are expanded in linear time, also 500,000 of them', () => {
  const text = '$('.repeat(500_000);
  assert.equal(expand(text, lookUp), text);
  const closed = `${'$('.repeat(50_000)})`;
  assert.equal(expand(closed, lookUp), closed);
});

it("expansions that exceed the size limits of a program's arguments are rejected", () => {
  assert.throws(() => expand('$(LONG)$(LONG)', lookUp), /has more than 131071 bytes/);
  const words = Array.from({ length: 100 }, () => 'a$(LONG)');
  assert.equal(expandEach(words.slice(0, 60), lookUp).length, 60);
  assert.throws(() => expandEach(words, lookUp), /more than 6291456 bytes/);
});
