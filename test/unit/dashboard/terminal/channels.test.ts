/** Messages of a terminal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  channels,
  endInWords,
  endOfInput,
  execPath,
  message,
  partsOf,
  programPath,
  resizeMessage,
} from '../../../../src/dashboard/app/terminal/plan/channels.ts';

describe('messages of a terminal', () => {
  it('begin with their channel', () => {
    assert.deepEqual([...message(channels.stdin, 'é')], [0, 0xc3, 0xa9]);
    const parts = partsOf(Uint8Array.from([1, 104, 105]));
    assert.deepEqual([parts?.channel, [...(parts?.data ?? [])]], [channels.stdout, [104, 105]]);
    assert.equal(partsOf(new Uint8Array()), undefined);
  });

  it('can contain the size of the terminal', () => {
    assert.equal(
      new TextDecoder().decode(resizeMessage(80, 24).subarray(1)),
      JSON.stringify({ Width: 80, Height: 24 }),
    );
  });

  it('follow a request whose path has each word of the shell as a parameter', () => {
    const path = execPath({ namespace: 'shop', pod: 'web-1', container: 'main' }, ['sh', '-c', 'a & b']);
    const address = new URL(path, 'http://localhost');
    assert.equal(address.pathname, '/api/v1/namespaces/shop/pods/web-1/exec');
    assert.deepEqual(address.searchParams.getAll('command'), ['sh', '-c', 'a & b']);
    assert.equal(address.searchParams.get('tty'), 'true');
  });

  it('end the input of a program without a terminal', () => {
    assert.deepEqual([...endOfInput()], [channels.close, channels.stdin]);
    const place = { namespace: 'shop', pod: 'web-1', container: 'main' };
    const query = (stdin: boolean) =>
      new URL(programPath(place, ['tar', 'cf', '-', '/a\nb'], stdin), 'http://localhost').searchParams;
    assert.equal(query(false).get('stdin'), null);
    assert.equal(query(true).get('stdin'), 'true');
    assert.equal(query(true).get('tty'), null);
    assert.equal(query(true).getAll('command').at(-1), '/a\nb');
  });

  it('report the end of a command in words', () => {
    assert.match(endInWords('{"status":"Success"}'), /has ended\.$/);
    const failed = {
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '127' }] },
    };
    assert.match(endInWords(JSON.stringify(failed)), /exit code 127: the command was not found/);
    assert.equal(endInWords('{"status":"Failure","message":"no such container"}'), 'no such container');
    assert.equal(endInWords('refused'), 'refused');
    assert.match(endInWords(''), /connection has ended/);
  });
});
