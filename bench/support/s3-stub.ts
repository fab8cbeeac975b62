/**
 * A small HTTP server that answers as S3 does for one object, in a process of its own, so that a bench's CPU is the
 * client's alone. Sockets and nothing else: ranged GETs are cut from one array, PUTs are counted and thrown away.
 *
 * Prints its port, ends when its standard input closes.
 */
import { createServer, type Socket } from 'node:net';

const objectBytes = Number(process.argv[2]);
const object = Buffer.alloc(objectBytes);
for (let i = 0; i < objectBytes; i++) object[i] = (i * 31 + (i >> 8)) & 255;

function answerGet(socket: Socket, head: string): void {
  const range = /\r\nrange: bytes=(\d+)-(\d+)/i.exec(head);
  const first = range ? Number(range[1]) : 0;
  const last = range ? Number(range[2]) : objectBytes - 1;
  socket.cork();
  socket.write(
    `HTTP/1.1 206 Partial Content\r\ncontent-type: application/octet-stream\r\netag: "0"\r\naccept-ranges: bytes\r\ncontent-range: bytes ${first}-${last}/${objectBytes}\r\ncontent-length: ${last - first + 1}\r\n\r\n`,
    'latin1',
  );
  socket.write(object.subarray(first, last + 1));
  socket.uncork();
}

function serve(socket: Socket): void {
  socket.setNoDelay(true);
  let head: Buffer = Buffer.alloc(0);
  let bodyLeft = 0;
  socket.on('error', () => socket.destroy());
  socket.on('data', (data) => {
    let chunk = data as Buffer;
    while (chunk.length > 0) {
      if (bodyLeft > 0) {
        const taken = Math.min(bodyLeft, chunk.length);
        bodyLeft -= taken;
        chunk = chunk.subarray(taken);
        if (bodyLeft === 0) socket.write('HTTP/1.1 200 OK\r\netag: "0"\r\ncontent-length: 0\r\n\r\n', 'latin1');
        continue;
      }
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = head.toString('latin1', 0, end);
      chunk = head.subarray(end + 4);
      head = Buffer.alloc(0);
      if (text.startsWith('GET ')) answerGet(socket, text);
      else bodyLeft = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (/\r\nexpect: 100-continue/i.test(text)) socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
    }
  });
}

const server = createServer(serve).listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as { port: number }).port}\n`);
});
process.stdin.resume().on('end', () => process.exit(0));
