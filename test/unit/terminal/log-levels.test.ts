import assert from 'node:assert/strict';
import { test } from 'node:test';
import { levelOf, parseLogLevels, unknownComponents } from '../../../src/terminal/log-levels.ts';

test('the longest matching path decides the level of a component', () => {
  const levels = parseLogLevels('warn,apiserver=debug,kubelet=error, kubelet/probes=info');
  const components = [
    'apiserver',
    'apiserver/watch',
    'apiserver2',
    'kubelet',
    'kubelet/pods',
    'kubelet/probes',
    'kubelet/probes/web',
    'kubelet/probes2',
    '',
    'manager',
  ];
  assert.deepEqual(
    components.map((component) => levelOf(levels, component)),
    ['debug', 'debug', 'warn', 'error', 'error', 'info', 'info', 'error', 'warn', 'warn'],
  );
});

test('without a level for all components the level is info', () => {
  assert.deepEqual(parseLogLevels('debug'), { others: 'debug', components: new Map() });
  assert.equal(parseLogLevels('dns=debug').others, 'info');
});

for (const [text, message] of [
  ['', /^expected one of debug, info, warn, error, or levels of components such as info,apiserver=debug/],
  ['loud', /^"loud" is no level; expected one of debug, info, warn, error, or levels of components/],
  ['info,', /^expected one of/],
  ['info,dns=loud', /^"loud" is no level for dns; expected one of debug, info, warn, error$/],
  ['info,dns=', /^"" is no level for dns/],
  ['info,=debug', /^"" is no component/],
  ['a//b=debug', /^"a\/\/b" is no component; write it as the log shows it/],
  ['a=debug=info', /^"a=debug=info": expected one of/],
  ['info,debug', /^"info" and "debug" are both for all components; give one$/],
  ['dns=info,dns=debug', /^component dns is given twice$/],
] as const) {
  test(`"${text}" is refused`, () => assert.throws(() => parseLogLevels(text), { message }));
}

const loggers = ['apiserver', 'deployment', 'kubelet', 'kubelet/informer/pods', 'informer/pods'];

test('a component with a logger, or with one below it, is accepted', () => {
  const levels = parseLogLevels(
    'warn,deployment=info,kubelet/informer=debug,informer/pods=debug,kubelet=error',
  );
  assert.deepEqual(unknownComponents(levels, loggers), []);
});

for (const [component, hint] of [
  ['kubelt', 'did you mean kubelet?'],
  ['deploymetn', 'did you mean deployment?'],
  ['kubelet/infromer', 'did you mean kubelet/informer?'],
  ['pods', 'did you mean kubelet/informer/pods or informer/pods?'],
  ['nothing', 'the components are apiserver, deployment, informer, kubelet'],
] as const) {
  test(`the component "${component}", which has no logger, is reported: ${hint}`, () => {
    const levels = parseLogLevels(`info,${component}=debug,apiserver=debug`);
    const problem = `no component is named "${component}"; ${hint}`;
    assert.deepEqual(unknownComponents(levels, loggers), [problem]);
  });
}
