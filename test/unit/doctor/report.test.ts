import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '../../../src/doctor/finding.ts';
import { reportJson, reportText } from '../../../src/doctor/report.ts';

const findings: readonly Finding[] = [
  {
    ...{ check: 'ports', node: 'a', severity: 'fault', found: 'port taken', why: 'no start' },
    mend: 'kill 7',
  },
  { check: 'sysctls', severity: 'ok', found: 'x = 1', fix: { kind: 'sysctl', name: 'x', value: '1' } },
];

describe('the report of the doctor', () => {
  it('prints the worst last, each with its reason and its command, and a summary', () => {
    assert.equal(
      reportText(
        findings,
        [{ command: 'sysctl -w x=1' }, { command: 'modprobe y', problem: 'no such module' }],
        (text) => `*${text}*`,
      ),
      [
        'ok      sysctls: x = 1',
        '*fault   *a: ports: port taken',
        '        no start',
        '        a: # kill 7',
        'fixed: sysctl -w x=1',
        'not fixed: modprobe y: no such module',
        '1 fault, 0 warnings, 0 notes, 1 ok',
        '',
      ].join('\n'),
    );
  });

  it('is a JSON document of a stable form', () => {
    assert.deepEqual(JSON.parse(reportJson(findings, [{ command: 'sysctl -w x=1' }])), {
      version: 1,
      severity: 'fault',
      exitStatus: 2,
      fixed: [{ command: 'sysctl -w x=1' }],
      findings: [
        {
          ...{ check: 'ports', node: 'a', severity: 'fault', found: 'port taken', why: 'no start' },
          ...{ mend: 'kill 7', isFixable: false },
        },
        { check: 'sysctls', severity: 'ok', found: 'x = 1', isFixable: true },
      ],
    });
  });
});
