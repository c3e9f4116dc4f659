import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CollectedBytes } from '../../../../src/dashboard/app/files/plan/collected-bytes.ts';
import { copyFault, lastPart, pathFault } from '../../../../src/dashboard/app/files/plan/copy-words.ts';

const failure = (message: string, code?: number) =>
  JSON.stringify({
    status: 'Failure',
    message,
    ...(code !== undefined && { details: { causes: [{ reason: 'ExitCode', message: String(code) }] } }),
  });

describe('the end of a copy', () => {
  it('is no fault if tar has succeeded, whatever it has reported', () => {
    assert.equal(
      copyFault('{"status":"Success"}', "tar: Removing leading `/' from member names\n"),
      undefined,
    );
  });

  it('names a missing tar', () => {
    const faults = [
      failure('OCI runtime exec failed: exec: "tar": executable file not found in $PATH: unknown'),
      failure('exec: "tar": stat /bin/tar: no such file or directory'),
      failure('command terminated with exit code 127', 127),
    ];
    for (const fault of faults) assert.match(copyFault(fault, '') ?? '', /^The container has no tar/);
  });

  it('is what tar has reported', () => {
    const status = failure('command terminated with exit code 2', 2);
    assert.equal(copyFault(status, 'tar: /nowhere: not found\n'), 'tar: /nowhere: not found');
    assert.match(copyFault(status, '') ?? '', /exit code 2/);
    assert.equal(copyFault('refused', ''), 'refused');
  });
});

describe('a path in a container', () => {
  it('must be absolute', () => {
    assert.equal(pathFault('/var/a b'), undefined);
    assert.match(pathFault('-rf') ?? '', /begin with/);
    assert.match(pathFault('') ?? '', /begin with/);
    assert.match(pathFault('/a\0b') ?? '', /value 0/);
  });

  it('has its last part as the name of the download', () => {
    assert.equal(lastPart('/var/log/'), 'log');
    assert.equal(lastPart('/'), 'root');
  });
});

describe('the output of tar', () => {
  it('is kept as a copy, up to a maximum', () => {
    const output = new CollectedBytes('/var/log', 2048);
    const bytes = Uint8Array.of(1, 2);
    output.take(bytes);
    bytes[0] = 9;
    assert.deepEqual(output.parts, [Uint8Array.of(1, 2)]);
    output.take(new Uint8Array(2046));
    assert.equal(output.size, 2048);
    assert.throws(() => output.take(bytes), /^Error: \/var\/log: more than 2\.0 KiB.*Use minik8s ctl cp\.$/);
  });
});
