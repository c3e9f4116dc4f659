/** No field of a manifest is dropped without a message. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { Fields } from '../../../../src/cli/convert/fields.ts';

function read(record: JsonObject) {
  const notes: string[] = [];
  return { fields: new Fields(record, 'spec.', (note) => notes.push(note)), notes };
}

describe('fields', () => {
  it('are present unless they are null, and are returned once', () => {
    const { fields, notes } = read({ a: null, b: 0, c: '', d: 'x' });
    assert.deepEqual(
      ['a', 'b', 'c', 'e'].map((name) => fields.has(name)),
      [false, true, true, false],
    );
    assert.equal(fields.take('e', 'a', 'b', 'd'), 0);
    assert.equal(fields.take('a', 'e'), undefined);
    assert.equal(fields.text('b'), '0');
    assert.equal(fields.text('a'), undefined);
    fields.end();
    assert.deepEqual(notes, [
      'spec.c: left out: its meaning is not known',
      'spec.d: left out: its meaning is not known',
    ]);
  });

  it('are read as text from texts and numbers; other values are rejected', () => {
    const { fields } = read({ a: ['x'], b: true, c: 1.5, d: 'y' });
    assert.deepEqual([fields.text('c'), fields.text('none', 'd')], ['1.5', 'y']);
    assert.throws(() => fields.text('a'), { message: 'spec.a: expected text, got a list or a mapping' });
    assert.throws(() => fields.text('b'), {
      message: 'spec.b: expected text, got true; put the word in quotes',
    });
  });

  it('in the items of a list are reported with the index, and so are items that are not mappings', () => {
    const { fields, notes } = read({ list: [{ a: 1, b: 2 }, 'odd'], text: 'x' });
    assert.deepEqual(
      fields.items('none', 'list').map((item) => item.take('a')),
      [1],
    );
    assert.deepEqual(fields.items('none'), []);
    assert.throws(() => fields.items('text'), { message: 'spec.text: expected a list' });
    fields.end();
    assert.deepEqual(notes, [
      'spec.list[1]: left out: expected a mapping of fields',
      'spec.list[0].b: left out: its meaning is not known',
    ]);
  });

  it('in a part are reported with their path, under the name in the manifest', () => {
    const { fields, notes } = read({ second: { x: 1, y: 2 }, third: 'odd' });
    assert.equal(fields.part('first', 'second').take('x'), 1);
    assert.equal(fields.part('third').take('length'), undefined, 'a text has no fields');
    fields.part('fourth', 'fifth').note('a', 'is told');
    fields.end();
    assert.deepEqual(notes, [
      'spec.fourth.a: is told',
      'spec.third: left out: its meaning is not known',
      'spec.second.y: left out: its meaning is not known',
    ]);
  });

  it('that are dropped are reported only if they exist', () => {
    const { fields, notes } = read({ a: 1 });
    fields.drop('a', 'why');
    fields.drop('b', 'why');
    fields.end();
    assert.deepEqual(notes, ['spec.a: left out: why']);
  });

  it('that were not read are returned once, including null', () => {
    const { fields, notes } = read({ a: 1, b: null, c: 2 });
    fields.take('a');
    assert.deepEqual([fields.others(), fields.others()], [{ b: null, c: 2 }, {}]);
    fields.end();
    assert.deepEqual(notes, []);
  });
});
