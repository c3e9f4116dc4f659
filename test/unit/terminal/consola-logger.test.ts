import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fields } from '../../../src/base/log.ts';
import { createLogger } from '../../../src/terminal/consola-logger.ts';
import { parseLogLevels } from '../../../src/terminal/log-levels.ts';
import type { LogFormat } from '../../../src/terminal/log-line.ts';

function loggerOf(levels: string, format: LogFormat) {
  const lines: string[] = [];
  const log = createLogger({ levels: parseLogLevels(levels), format, write: (line) => lines.push(line) });
  return { log, lines };
}

const circular: Record<string, unknown> = {};
circular.self = circular;

/** Values that a field may hold by mistake or by malice. */
const awkward: Fields = {
  newline: 'a\nb\r\nc',
  escape: '\u001b[2Jgone\u009b\u2028next\u202eback\u2066',
  big: 12n,
  circular,
  thrower: {
    toJSON() {
      throw new Error('no');
    },
  },
  error: new Error('two\nlines'),
  'odd\nname': 1,
};

test('a line has the time, the level, the component, the message and the data', () => {
  const { log, lines } = loggerOf('info', 'text');
  log.debug('not at this level');
  log.info('starting');
  log
    .named('kubelet')
    .named('probe')
    .warn('probe\nfailed', {
      pod: 'default/web',
      error: new Error('refused', { cause: new Error('no route') }),
      attempt: 3,
      empty: '',
      absent: undefined,
      labels: { a: 'b' },
    });
  log.error('gone');
  log.error('gone');
  assert.deepEqual(
    lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, '')),
    [
      'INFO  starting\n',
      'WARN  kubelet/probe: probe failed pod=default/web error="refused: no route" attempt=3 empty="" labels="{\\"a\\":\\"b\\"}"\n',
      'ERROR gone\n',
      'ERROR gone\n',
    ],
  );
});

test('in JSON an event is an object with the fields as members', () => {
  const { log, lines } = loggerOf('info', 'json');
  log.info('starting');
  log.named('kubelet').warn('probe failed', {
    pod: 'default/web',
    error: new Error('refused', { cause: new Error('no route') }),
    attempt: 3,
    absent: undefined,
    labels: { a: 'b' },
    level: 'mine',
    msg: 'mine',
  });
  const events = lines.map((line) => JSON.parse(line));
  for (const { ts } of events) assert.match(ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(
    events.map(({ ts, ...rest }) => rest),
    [
      { level: 'info', msg: 'starting' },
      {
        level: 'warn',
        component: 'kubelet',
        msg: 'probe failed',
        pod: 'default/web',
        error: 'refused: no route',
        attempt: 3,
        labels: { a: 'b' },
        _level: 'mine',
        _msg: 'mine',
      },
    ],
  );
});

for (const format of ['text', 'json'] as const) {
  test(`an event is one line of ${format} without control characters, including those of bidirectional text, whatever its content is`, () => {
    const { log, lines } = loggerOf('info', format);
    log.info('mes\nsage\u001b[2J\u2029', awkward);
    assert.equal(lines.length, 1);
    const [line = ''] = lines;
    assert.ok(line.endsWith('\n'));
    assert.doesNotMatch(line.slice(0, -1), /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    assert.match(line, /not readable: Converting circular/);
    assert.match(line, /not readable: no/);
    assert.match(line, /two lines/);
    if (format === 'json') {
      const event = JSON.parse(line);
      assert.equal(event.newline, awkward.newline);
      assert.equal(event.escape, awkward.escape);
      assert.equal(event.big, '12');
      assert.equal(event['odd\nname'], 1);
    }
  });
}

test('each component has a separate level', () => {
  const { log, lines } = loggerOf('warn,kubelet/probes=debug', 'text');
  log.info('no');
  log.named('kubelet').info('no');
  log.named('kubelet').named('probes').debug('yes');
  log.named('kubelet').named('probes').named('web').debug('yes');
  assert.deepEqual(
    lines.map((line) => line.slice(25)),
    ['DEBUG kubelet/probes: yes\n', 'DEBUG kubelet/probes/web: yes\n'],
  );
});

test('the levels of components without a logger are reported once, in one warning', () => {
  const { log, lines } = loggerOf('warn,kubelt=debug,kubelet/probes=debug,dns=info', 'text');
  log.named('kubelet').named('probes');
  log.warnOfUnknownComponents('some come later');
  log.warnOfUnknownComponents();
  assert.deepEqual(
    lines.map((line) => line.slice(25)),
    [
      'WARN  --log-level: no component is named "kubelt"; did you mean kubelet?; ' +
        'no component is named "dns"; the components are kubelet (some come later)\n',
    ],
  );
});

test('levels of components that all have loggers cause no warning', () => {
  const { log, lines } = loggerOf('info,kubelet=debug', 'text');
  log.named('kubelet');
  log.warnOfUnknownComponents();
  assert.deepEqual(lines, []);
});
