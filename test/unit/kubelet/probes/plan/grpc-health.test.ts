/** Request of a probe to grpc.health.v1.Health, byte by byte, and the result of its answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrpcError } from '../../../../../src/grpc/status.ts';
import {
  healthCheck,
  healthFailure,
  healthOutcome,
  healthRequest,
} from '../../../../../src/kubelet/probes/plan/grpc-health.ts';
import { maxOutputBytes } from '../../../../../src/kubelet/probes/plan/outcome.ts';

describe('the request of a gRPC probe', () => {
  it('calls the method Check of grpc.health.v1.Health', () => {
    assert.equal(healthCheck, '/grpc.health.v1.Health/Check');
  });
  for (const [service, bytes] of [
    ['', '00 00000000'],
    ['ab', '00 00000004 0a 02 6162'],
    ['é', '00 00000004 0a 02 c3a9'],
    ['x'.repeat(200), `00 000000cb 0a c801 ${'78'.repeat(200)}`],
  ] as const)
    it(`names the service ${JSON.stringify(service.slice(0, 3))}`, () =>
      assert.equal(healthRequest(service).toString('hex'), bytes.replaceAll(' ', '')));
});

describe('the answer to a gRPC probe', () => {
  const unhealthy = (status: string) => `service unhealthy (responded with "${status}")`;
  for (const [bytes, result, output] of [
    ['0801', 'success', 'service healthy'],
    ['', 'failure', unhealthy('UNKNOWN')],
    ['0800', 'failure', unhealthy('UNKNOWN')],
    ['0802', 'failure', unhealthy('NOT_SERVING')],
    ['0803', 'failure', unhealthy('SERVICE_UNKNOWN')],
    ['0807', 'failure', unhealthy('7')],
    // Unknown fields are skipped, and the last of a repeated field counts.
    ['1205616263646508020801', 'success', 'service healthy'],
    ['08010802', 'failure', unhealthy('NOT_SERVING')],
  ] as const)
    it(`${bytes || 'without bytes'} means: ${output}`, () =>
      assert.deepEqual(healthOutcome(Buffer.from(bytes, 'hex')), { result, output }));
  it('is an error if it is not a valid message', () => {
    for (const bytes of ['08', '0a0161', 'ff'])
      assert.throws(() => healthOutcome(Buffer.from(bytes, 'hex')), { name: 'ProtobufError' }, bytes);
  });
});

describe('a gRPC probe whose call fails', () => {
  for (const [status, output] of [
    [
      'UNIMPLEMENTED',
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): why',
    ],
    ['DEADLINE_EXCEEDED', 'timeout: health rpc did not complete within 1s'],
    ['NOT_FOUND', 'error: health rpc probe failed: rpc error: code = NotFound desc = why'],
    ['CANCELLED', 'error: health rpc probe failed: rpc error: code = Canceled desc = why'],
    ['UNAVAILABLE', 'error: health rpc probe failed: rpc error: code = Unavailable desc = why'],
  ] as const)
    it(`with ${status} is a failure`, () =>
      assert.deepEqual(healthFailure(new GrpcError(status, 'why'), '1s'), { result: 'failure', output }));
});

it("ten kibibytes of a probe's output are kept", () => assert.equal(maxOutputBytes, 10_240));
