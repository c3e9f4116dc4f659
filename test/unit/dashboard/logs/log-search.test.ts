/** Search in logs, and colors that programs write into them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { logSearch } from '../../../../src/dashboard/app/pages/logs/plan/log-search.ts';
import { lineParts, withoutControls } from '../../../../src/dashboard/app/pages/logs/plan/terminal-colors.ts';

const search = (text: string) => {
  const found = logSearch(text);
  assert.ok('matches' in found, 'fault' in found ? found.fault : '');
  return found;
};

describe('a search in logs', () => {
  it('finds a text in any case, unless the text has capitals', () => {
    assert.ok(search('error').matches('an ERROR occurred'));
    assert.ok(!search('Error').matches('an ERROR occurred'));
    assert.ok(!search('error').matches('all is well'));
  });

  it('finds a text literally, not as a pattern', () => {
    assert.ok(search('a.b(').matches('x a.b( y'));
    assert.ok(!search('a.b').matches('aXb'));
  });

  it('finds a text between slashes as a regular expression', () => {
    assert.ok(search('/^GET .* 5\\d\\d$/').matches('GET /x 503'));
    assert.ok(!search('/^GET .* 5\\d\\d$/').matches('GET /x 200'));
  });

  it('shows the lines without a text after an exclamation mark', () => {
    assert.ok(!search('!health').matches('GET /health'));
    assert.ok(search('!health').matches('GET /orders'));
    assert.deepEqual(search('!health').spans('GET /orders'), []);
  });

  it('reports an invalid regular expression', () => {
    const found = logSearch('/(/');
    assert.ok('fault' in found);
    assert.match(found.fault, /Unterminated group|Invalid/);
  });

  it('marks the found text, also after the same search has matched another line', () => {
    const found = search('ab');
    assert.ok(found.matches('xx ab'));
    assert.deepEqual(found.spans('ab x'), [[0, 2]]);
  });

  it('marks each place where the text was found, and no empty match', () => {
    assert.deepEqual(search('ab').spans('ab cab'), [
      [0, 2],
      [4, 6],
    ]);
    assert.deepEqual(search('/x*/').spans('aaa'), []);
  });
});

describe('a colored line', () => {
  it('is cut where its color changes', () => {
    const parts = lineParts(withoutControls('\u001b[32mok\u001b[0m and \u001b[1;31mbad\u001b[39m end'), []);
    assert.deepEqual(
      parts.map(({ text, style }) => [text, style]),
      [
        ['ok', 'ansi-green'],
        [' and ', ''],
        ['bad', 'ansi-red ansi-bold'],
        [' end', 'ansi-bold'],
      ],
    );
  });

  it('marks the found text across a change of color', () => {
    const line = withoutControls('a\u001b[31mbc\u001b[0md');
    assert.equal(line.text, 'abcd');
    assert.deepEqual(
      lineParts(line, [[0, 2]]).map(({ text, isFound }) => [text, isFound]),
      [
        ['a', true],
        ['b', true],
        ['c', false],
        ['d', false],
      ],
    );
  });

  it('has no control characters, titles of windows or moves of the cursor', () => {
    const { text } = withoutControls('\u001b]0;title\u0007a\u001b[2Kb\u0000\u001b[38;5;196mc\u001b[?25ld\t!');
    assert.equal(text, 'abcd\t!');
  });
});
