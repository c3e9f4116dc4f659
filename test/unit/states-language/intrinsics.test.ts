/** Intrinsic functions: their results, their errors, and the syntax of a call. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StateError } from '../../../src/states-language/failure.ts';
import { evaluateCall } from '../../../src/states-language/intrinsics/evaluate.ts';
import { parseIntrinsic } from '../../../src/states-language/intrinsics/parse.ts';
import type { Json } from '../../../src/states-language/json.ts';
import { SyntaxProblem } from '../../../src/states-language/paths/cursor.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const input: Json = {
  name: 'Ana',
  age: 7,
  half: 2.5,
  none: null,
  object: { a: 1 },
  list: [1, 2, 3, 4, 5, 6, 7],
  mixed: [1, '1', { a: 1 }, { a: 1 }, 1, [1], [1], null, null],
  json: '{"a":[1,true]}',
  deep: deep(300),
  template: 'I am {}, {}',
  long: 'x'.repeat(10_001),
  first: { a: { x: 1 }, b: 2 },
  second: { a: { y: 2 }, c: 3 },
};
const call = (text: string, random = new SeededRandom(1)) =>
  evaluateCall(parseIntrinsic(text), { input, context: { Name: 'ctx' }, variable: () => 'v' }, random);

const given: [text: string, value: Json][] = [
  ["States.Format('Hello {}', $.name)", 'Hello Ana'],
  ["States.Format('{} is {}', $.name, $.age)", 'Ana is 7'],
  ["States.Format('{}{}{}', true, null, 1.5)", 'truenull1.5'],
  ["States.Format('none')", 'none'],
  ["States.Format('\\{\\} {} \\'q\\' \\\\', 1)", "{} 1 'q' \\"],
  ["States.Format('{ } {')", '{ } {'],
  ['States.Format($.template, 1, 2)', 'I am 1, 2'],
  ["States.Format('{} {}', $$.Name, $x)", 'ctx v'],
  ['States.StringToJson($.json)', { a: [1, true] }],
  ['States.StringToJson(\'"x"\')', 'x'],
  ['States.JsonToString($.object)', '{"a":1}'],
  ["States.JsonToString('x')", '"x"'],
  ['States.Array()', []],
  ["States.Array('a', 1, $.object, States.Array(2))", ['a', 1, { a: 1 }, [2]]],
  ['States.ArrayPartition($.list, 3)', [[1, 2, 3], [4, 5, 6], [7]]],
  ['States.ArrayPartition($.list, 2.5)', [[1, 2, 3], [4, 5, 6], [7]]],
  ['States.ArrayPartition(States.Array(), 2)', []],
  ['States.ArrayContains($.list, 5)', true],
  ['States.ArrayContains($.list, 8)', false],
  ["States.ArrayContains($.list, '5')", false],
  ['States.ArrayContains($.mixed, $.object)', true],
  ['States.ArrayContains($.mixed, null)', true],
  ['States.ArrayRange(1, 9, 2)', [1, 3, 5, 7, 9]],
  ['States.ArrayRange(1, 8, 2)', [1, 3, 5, 7]],
  ['States.ArrayRange(3, 1, -1)', [3, 2, 1]],
  ['States.ArrayRange(1, 1, 1)', [1]],
  ['States.ArrayRange(2, 1, 1)', []],
  ['States.ArrayGetItem($.list, 5)', 6],
  ['States.ArrayGetItem($.mixed, 7)', null],
  ['States.ArrayLength($.list)', 7],
  ['States.ArrayUnique($.mixed)', [1, '1', { a: 1 }, [1], null]],
  ["States.Base64Encode('Data to encode')", 'RGF0YSB0byBlbmNvZGU='],
  ["States.Base64Encode('ä')", 'w6Q='],
  ["States.Base64Decode('RGVjb2RlZCBkYXRh')", 'Decoded data'],
  ["States.Hash('input data', 'SHA-1')", 'aaff4a450a104cd177d28d18d74485e8cae074b7'],
  ["States.Hash('', 'MD5')", 'd41d8cd98f00b204e9800998ecf8427e'],
  ["States.Hash('abc', 'SHA-256')", 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ["States.Hash($.object, 'MD5')", 'bb6cb5c68df4652941caf652a366f2d8'],
  ['States.JsonMerge($.first, $.second, false)', { a: { y: 2 }, b: 2, c: 3 }],
  ['States.MathAdd(111, -1)', 110],
  ['States.MathAdd(1.5, 1.4)', 3],
  ["States.StringSplit('1,2,3,4,5', ',')", ['1', '2', '3', '4', '5']],
  ["States.StringSplit('This.is+a,test=string', '.+,=')", ['This', 'is', 'a', 'test', 'string']],
  ["States.StringSplit('..a..b..', '.')", ['a', 'b']],
  ["States.StringSplit('', ',')", []],
  ["States.StringSplit('a', '')", ['a']],
  ["States.Format('{}', States.JsonToString(States.ArrayRange(1, 3, 1)))", '[1,2,3]'],
  ["States.Array( 1 ,'two' , \t$.age )", [1, 'two', 7]],
  ["States.Array('it\\'s', '\\{')", ["it's", '{']],
  ['States.Array(-1.5e2, false)', [-150, false]],
];
for (const [text, value] of given)
  test(`${text} is ${JSON.stringify(value)}`, () => assert.deepEqual(call(text), value));

const lengths: [algorithm: string, length: number][] = [
  ['SHA-384', 96],
  ['SHA-512', 128],
];
for (const [algorithm, length] of lengths)
  test(`a hash by ${algorithm} has ${length} hexadecimal digits, and differs for another text`, () => {
    const hash = call(`States.Hash('abc', '${algorithm}')`);
    assert.match(String(hash), new RegExp(`^[0-9a-f]{${length}}$`));
    assert.notEqual(hash, call(`States.Hash('abd', '${algorithm}')`));
  });

const refused: [text: string, cause: RegExp][] = [
  ["States.Format('{} {}', 1)", /States\.Format: the text has more \{\} than there are values/],
  ["States.Format('{}', 1, 2)", /the text has 1 \{\}, and there are 2 values/],
  ["States.Format('{}', $.list)", /\{\} takes a text, a number, a boolean or null, not \[1,2/],
  ['States.Format(1)', /expected a text, not 1/],
  ["States.StringToJson('{')", /the text is not JSON: "\{"/],
  ['States.StringToJson($.deep)', /the JSON holds values in one another more than 200 levels deep/],
  ['States.ArrayPartition($.list, 0)', /expected a number above 0, not 0/],
  ["States.ArrayPartition($.list, '2')", /expected an integer, not "2"/],
  ['States.ArrayPartition($.object, 2)', /expected a list, not \{"a":1\}/],
  ['States.ArrayRange(1, 2, 0)', /the step is 0/],
  ['States.ArrayRange(1, 1001, 1)', /^States\.ArrayRange: it would have 1001 items, and may have 1000$/],
  ['States.ArrayGetItem($.list, 7)', /there is no item 7 in a list of 7/],
  ['States.ArrayGetItem($.list, -1)', /there is no item -1/],
  ['States.ArrayLength($.name)', /expected a list/],
  ['States.Base64Encode($.long)', /the text has 10001 characters, and may have 10000/],
  ["States.Base64Decode('%%')", /not Base64/],
  ["States.Hash('x', 'SHA-2')", /the algorithm is one of MD5, SHA-1, SHA-256, SHA-384, SHA-512, not SHA-2/],
  ["States.Hash('x', 'constructor')", /the algorithm is one of/],
  ["States.Hash($.long, 'MD5')", /10001 characters/],
  ['States.JsonMerge($.first, $.second, true)', /only shallow merging/],
  ['States.JsonMerge($.first, 1, false)', /expected two objects, not 1/],
  ['States.JsonMerge(2, $.first, false)', /expected two objects, not 2/],
  ['States.MathRandom(5, 5)', /there is no number from 5 on and below 5/],
  ["States.MathAdd('1', 1)", /expected an integer, not "1"/],
  ['States.MathAdd(1e300, 1)', /expected an integer/],
  ['States.StringSplit($.list, 1)', /expected a text/],
  ['States.Array($.missing)', /States\.Array: there is nothing at a path of its arguments/],
];
for (const [text, cause] of refused)
  test(`${text} fails`, () =>
    assert.throws(
      () => call(text),
      (error) =>
        error instanceof StateError &&
        error.failure.error === 'States.IntrinsicFailure' &&
        cause.test(error.failure.cause),
    ));

const counts: [name: string, least: number, most: number][] = [
  ['StringToJson', 1, 1],
  ['JsonToString', 1, 1],
  ['ArrayPartition', 2, 2],
  ['ArrayContains', 2, 2],
  ['ArrayRange', 3, 3],
  ['ArrayGetItem', 2, 2],
  ['ArrayLength', 1, 1],
  ['ArrayUnique', 1, 1],
  ['Base64Encode', 1, 1],
  ['Base64Decode', 1, 1],
  ['Hash', 2, 2],
  ['JsonMerge', 3, 3],
  ['MathRandom', 2, 3],
  ['MathAdd', 2, 2],
  ['StringSplit', 2, 2],
  ['UUID', 0, 0],
];
for (const [name, least, most] of counts)
  test(`States.${name} takes ${least} to ${most} arguments`, () => {
    const written = (count: number) => () =>
      parseIntrinsic(`States.${name}(${Array(count).fill('1').join(', ')})`);
    for (let count = least; count <= most; count++) assert.doesNotThrow(written(count));
    if (least > 0) assert.throws(written(least - 1), SyntaxProblem);
    assert.throws(written(most + 1), SyntaxProblem);
  });

test('ArrayRange makes a list of 1000 items', () =>
  assert.equal((call('States.ArrayRange(1, 1000, 1)') as Json[]).length, 1000));

test('a text of the maximum length may be hashed', () =>
  assert.match(String(call(`States.Hash('${'x'.repeat(1900)}', 'MD5')`)), /^[0-9a-f]{32}$/));

test('a path that visits too many values fails the function', () => {
  const wide = { input: Array.from({ length: 400 }, () => Array.from({ length: 400 }, () => 1)) };
  assert.throws(
    () => evaluateCall(parseIntrinsic('States.Array($..*)'), wide, new SeededRandom(1)),
    /a path looks at more than/,
  );
});

test('MathRandom draws a number that is not below the first and is below the second, the same for the same seed', () => {
  const random = new SeededRandom(1);
  const drawn = Array.from({ length: 200 }, () => Number(call('States.MathRandom(-2, 3)', random)));
  assert.deepEqual(
    [...new Set(drawn)].sort((a, b) => a - b),
    [-2, -1, 0, 1, 2],
  );
  const seeded = () => call('States.MathRandom(1, 999999, 7)', random);
  assert.equal(seeded(), seeded());
  assert.notEqual(seeded(), call('States.MathRandom(1, 999999, 8)'));
});

test('UUID is generated from the given randomness', () => {
  const uuid = call('States.UUID()', new SeededRandom(3));
  assert.match(String(uuid), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(uuid, call('States.UUID()', new SeededRandom(3)));
  assert.notEqual(uuid, call('States.UUID()', new SeededRandom(4)));
});

const broken: [text: string, problem: RegExp][] = [
  ['', /expected States\. and a name/],
  ['States.', /expected States\. and a name/],
  ['States.Sqrt(1)', /there is no function States\.Sqrt/],
  ['States.toString()', /there is no function/],
  ['States.Array', /expected \( at character 13/],
  ['States.Array(1', /expected \) at character 15/],
  ['States.Array(1,)', /expected a path, a function/],
  ['States.Array(1) ', /unexpected ' ' at character 16/],
  ["States.Array('a)", /expected '/],
  ["States.Array('a\\b')", /a backslash may stand before ' \{ \} and \\ only/],
  ["States.Array('a\\", /expected '/],
  ['States.Array("a")', /expected a path, a function, a text in '…'/],
  ['States.Array(Fail)', /expected a path/],
  ['States.Array(States.Nope())', /there is no function States\.Nope/],
  ['States.UUID(1)', /States\.UUID takes 0 arguments/],
  ['States.ArrayLength()', /States\.ArrayLength takes 1 argument at/],
  ['States.MathRandom(1)', /States\.MathRandom takes 2 to 3 arguments/],
  ['States.Format()', /States\.Format takes at least 1 argument at/],
  [`States.Array(${'1,'.repeat(1100)}1)`, /is longer than 2048 characters/],
  ['States.Array('.repeat(11) + ')'.repeat(11), /more than 10 levels of nesting/],
];
for (const [text, problem] of broken)
  test(`the call "${text.slice(0, 50)}" is refused`, () =>
    assert.throws(
      () => parseIntrinsic(text),
      (error) => error instanceof SyntaxProblem && problem.test(error.message),
    ));

test('nested calls of the maximum depth are evaluated', () =>
  assert.deepEqual(call('States.Array('.repeat(10) + ')'.repeat(10)), [[[[[[[[[[]]]]]]]]]]));
