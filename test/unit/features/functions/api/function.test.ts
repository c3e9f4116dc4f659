import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import {
  setFunctionDefaults,
  validateFunction,
} from '../../../../../src/features/functions/api/function-validation.ts';

type Spec = Partial<Fn['spec']>;

function fn(spec: Spec, name = 'hello'): Fn {
  const made = {
    apiVersion: 'minik8s.io/v1',
    kind: 'Function',
    metadata: { name, namespace: 'default' },
    spec: {
      timeoutSeconds: 30,
      concurrency: 10,
      minScale: 0,
      maxScale: 10,
      metric: 'Concurrency',
      public: false,
      ...spec,
    },
  } as Fn;
  setFunctionDefaults(made);
  return made;
}

const python = (spec: Spec = {}) => fn({ runtime: 'python', files: { 'main.py': 'x' }, ...spec });
const causes = (object: Fn) => validateFunction(object).map(({ field, message }) => `${field}: ${message}`);

describe('the defaults of a function', () => {
  it('are set for a runtime', () => {
    const { handler, target, windowSeconds, idleSeconds } = python().spec;
    assert.deepEqual([handler, target, windowSeconds, idleSeconds], ['main.handler', 7, 30, 60]);
  });
  it('include no handler for an image', () => assert.equal(fn({ image: 'a:1' }).spec.handler, undefined));
  it('include a target of 5 for the metric Requests', () =>
    assert.equal(python({ metric: 'Requests' }).spec.target, 5));
  it('include a target of at least one call', () => assert.equal(python({ concurrency: 1 }).spec.target, 1));
});

describe('accepted functions', () => {
  const accepted: Readonly<Record<string, Fn>> = {
    'a file': python(),
    'a package': python({ handler: 'shop.orders.pay', files: { 'shop/orders.py': '' } }),
    'a package by its folder': python({ handler: 'shop.pay', files: { 'shop/__init__.py': '' } }),
    'a module of Node': fn({ runtime: 'nodejs', handler: 'src/main.handler', files: { 'src/main.mjs': '' } }),
    'binary files': python({ binaryFiles: { 'model.bin': 'AAECAw==' } }),
    'an image': fn({ image: 'registry.example.com/app:1' }),
    variables: python({ env: [{ name: 'A', value: 'b' }] }),
    'a variable of a Secret': python({
      env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }],
    }),
  };
  for (const [name, object] of Object.entries(accepted)) {
    it(name, () => assert.deepEqual(causes(object), []));
  }
});

describe('rejected functions', () => {
  const refused: readonly (readonly [string, Fn, RegExp])[] = [
    ['neither runtime nor image', fn({}), /^spec.runtime: Required/],
    ['both', python({ image: 'a:1' }), /^spec.image: Forbidden/],
    ['no files', fn({ runtime: 'python' }), /^spec.files: Required/],
    ['an empty image', fn({ image: '' }), /^spec.image: Required/],
    ["another function's image", fn({ image: 'minik8s.function/a/b:c' }), /^spec.image: Forbidden/],
    ['an image with files', fn({ image: 'a:1', files: { a: '' } }), /^spec.files: Forbidden/],
    ['an image with a handler', fn({ image: 'a:1', handler: 'a.b' }), /^spec.handler: Forbidden/],
    ['a handler without a function', python({ handler: 'main' }), /^spec.handler: Invalid.*MODULE.FUNCTION/],
    ['a handler with a space', python({ handler: 'main.a b' }), /^spec.handler: Invalid/],
    ['a handler of another file', python({ handler: 'other.f' }), /spec.files has no other.py or other/],
    ['a handler outside of the folder', python({ handler: '../main.f' }), /^spec.handler: Invalid/],
    [
      'a path outside of the folder',
      python({ files: { 'main.py': '', '../x': '' } }),
      /spec.files\[..\/x\]: Invalid/,
    ],
    ['an absolute path', python({ files: { 'main.py': '', '/etc/x': '' } }), /^spec.files\[\/etc\/x\]/],
    ['an empty path element', python({ files: { 'main.py': '', 'a//b': '' } }), /^spec.files\[a\/\/b\]/],
    ['a folder that is a file', python({ files: { 'main.py': '', 'main.py/x': '' } }), /main.py is a file/],
    ['a long path', python({ files: { 'main.py': '', ['a'.repeat(256)]: '' } }), /no more than 255/],
    ['a path twice', python({ binaryFiles: { 'main.py': '' } }), /^spec.binaryFiles\[main.py\]: Duplicate/],
    [
      'no base64',
      python({ binaryFiles: { a: '*' } }),
      /^spec.binaryFiles\[a\]: Invalid value: must be base64/,
    ],
    ['base64 without its end', python({ binaryFiles: { a: 'AAE' } }), /must be base64/],
    ['too much', python({ files: { 'main.py': 'x'.repeat(1_000_001) } }), /more than 1000000 bytes/],
    [
      'too many',
      python({
        files: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [i ? `f${i}` : 'main.py', ''])),
      }),
      /more than 1000 files/,
    ],
    [
      'a variable that the runtime sets',
      python({ env: [{ name: 'PORT', value: '1' }] }),
      /^spec.env\[0\].name/,
    ],
    [
      "a variable with the prefix of the runtime's variables",
      python({ env: [{ name: 'FUNCTION_X', value: '1' }] }),
      /^spec.env\[0\].name/,
    ],
    ['a variable without a name', python({ env: [{ name: '' }] }), /^spec.env\[0\].name: Required/],
    ['a wrong amount', python({ resources: { limits: { cpu: 'x' } } }), /^spec.resources.limits\[cpu\]/],
    ['no time', python({ timeoutSeconds: 0 }), /^spec.timeoutSeconds: .* between 1 and 3600/],
    ['no room', python({ concurrency: 0 }), /^spec.concurrency/],
    ['a maximum of 0', python({ maxScale: 0 }), /^spec.maxScale/],
    ['a minimum above the maximum', python({ minScale: 3, maxScale: 2 }), /^spec.minScale: .*maxScale/],
    ['no target', python({ target: 0 }), /^spec.target/],
    ['no window', python({ windowSeconds: 0 }), /^spec.windowSeconds/],
    ['an idle time of 0', python({ idleSeconds: 0 }), /^spec.idleSeconds/],
    ['a long name', fn({ image: 'a:1' }, 'a'.repeat(41)), /^metadata.name: .*40/],
    ['a name with a dot', fn({ image: 'a:1' }, 'a.b'), /^metadata.name/],
  ];
  for (const [name, object, expected] of refused) {
    it(name, () => {
      const found = causes(object);
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] ?? '', expected);
    });
  }
});
