/* Bots' connections on one epoll: who has something to take is given it, whole or in pieces. */

#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define READ 65536           /* bytes that are read from a connection at a time */
#define LONGEST (1 << 20)    /* bytes that may wait for their end: far more than any message has */
#define MOST_ADDRESSES 64
#define AT_ONCE 1023         /* connections that are looked at before the next system call */

static struct sockaddr_in addresses[MOST_ADDRESSES];
static unsigned address_count;
static int epoll = -1;
static char buffer[LONGEST + READ];

void add_address(const char *host, unsigned port)
{
    if (address_count == MOST_ADDRESSES)
        fail("there are more than %d addresses", MOST_ADDRESSES);
    struct sockaddr_in *address = &addresses[address_count++];
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)port);
    if (inet_pton(AF_INET, host, &address->sin_addr) != 1)
        fail("%s is no address of IPv4", host);
}

void prepare(struct connection *connection, unsigned number, Take *take, void *bot)
{
    connection->number = number;
    connection->take = take;
    connection->bot = bot;
}

static void open_connection(struct connection *connection)
{
    if (epoll < 0 && (epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
        fail("epoll_create1: %s", strerror(errno));
    const struct sockaddr_in *address = &addresses[connection->number % address_count];
    int one = 1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->socket < 0)
        fail("socket: %s", strerror(errno));
    if (connect(connection->socket, (const struct sockaddr *)address, sizeof *address) < 0)
        fail("connect: %s", strerror(errno));
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, connection->socket, &event) < 0)
        fail("epoll_ctl: %s", strerror(errno));
    connection->is_open = true;
}

void say(struct connection *connection, const char *bytes, size_t count)
{
    if (!connection->is_open)
        open_connection(connection);
    ssize_t sent = send(connection->socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        fail("a bot could not send: %s", strerror(errno));
    if ((size_t)sent != count)
        fail("a server has not read what a bot sent: %zd of %zu bytes could be sent", sent, count);
}

static void keep(struct connection *connection, const char *bytes, size_t count)
{
    if (count > LONGEST)
        fail("a message has more than %d bytes", LONGEST);
    if (count > connection->space) {
        connection->space = count;
        connection->rest = realloc(connection->rest, count);
        if (connection->rest == NULL)
            fail("out of memory");
    }
    if (count != 0)
        memcpy(connection->rest, bytes, count);
    connection->held = count;
}

static void receive(struct connection *connection)
{
    if (connection->held != 0)
        memcpy(buffer, connection->rest, connection->held);
    ssize_t received = recv(connection->socket, buffer + connection->held, READ, MSG_DONTWAIT);
    if (received < 0 && errno == EAGAIN)
        return;
    if (received < 0)
        fail("a bot was hung up on: %s", strerror(errno));
    if (received == 0)
        fail("a bot was hung up on");
    size_t count = connection->held + (size_t)received;
    size_t taken = connection->take(connection->bot, buffer, count);
    keep(connection, buffer + taken, count - taken);
}

void listen_for(double timeout)
{
    struct epoll_event ready[AT_ONCE];
    int count = epoll_wait(epoll, ready, AT_ONCE, (int)(timeout * 1000));
    if (count < 0 && errno != EINTR)
        fail("epoll_wait: %s", strerror(errno));
    if (count == 0)
        fail("nobody was told anything for %g s", timeout);
    for (int each = 0; each < count; each++)
        receive(ready[each].data.ptr);
}
