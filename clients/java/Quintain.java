import static jdk.net.ExtendedSocketOptions.*;
import java.io.*;
import java.net.*;
import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.*;
import java.util.function.BiFunction;
import java.util.regex.Pattern;

/**
 * Plays on a Quintain host: {@code new Quintain("connect-4", (turn, you) -> "3").play()}. Java 17 or later, over TCP.
 * The function is given the host's message and the bot's seat ("first" or "second", in Tic-Tac-Toe "O" or "X"). It
 * returns a move in its short form: "3", "SE", "e3h", "1 2 3" or "0,0 0,1". After a lost connection, or if it is
 * started again within half a minute, the bot goes on with its match.
 */
public final class Quintain {
    /** A JSON value as the host wrote it, which is read no further than somebody asks; "null" where there is none. */
    public record Json(String text) {
        public Json get(String name) { return new Json(members().getOrDefault(name, "null")); }
        public List<Json> items() { return members().values().stream().map(Json::new).toList(); }
        public int number() { return Integer.parseInt(text); }
        public String string() { return text.replaceAll("^\"|\"$", "").replaceAll("\\\\(.)", "$1"); }

        /** The members of an object by their names, or of an array by their places. */
        private Map<String, String> members() {
            var members = new LinkedHashMap<String, String>();
            for (int at = 1, length = text.matches("(?s)[\\[{].{2,}") ? text.length() : 0; at < length; at++) {
                int start = text.startsWith("{") ? end(at) + 1 : at; // past the name and its colon
                String name = start > at ? text.substring(at + 1, start - 2) : "" + members.size();
                at = end(start);
                members.put(name, text.substring(start, at));
            }
            return members;
        }

        /** Where the value ends that begins here: hosts write no blanks between values. */
        private int end(int at) {
            boolean isQuoted = false;
            for (int depth = 0; at < text.length(); at++) {
                char letter = text.charAt(at);
                if (letter == '"') isQuoted = !isQuoted;
                else if (isQuoted) at += letter == '\\' ? 1 : 0;
                else if (depth == 0 && ",:]}".indexOf(letter) >= 0) break;
                else depth += "[{".indexOf(letter) >= 0 ? 1 : "]}".indexOf(letter) >= 0 ? -1 : 0;
            }
            return at;
        }
    }

    private static final String URL = System.getenv().getOrDefault("QUINTAIN_URL", "tcp://127.0.0.1:8000");
    private final String name = System.getenv().getOrDefault("QUINTAIN_NAME", "java-bot").strip(), game;
    public boolean quiet; // print nothing
    private final BiFunction<Json, String, String> choose;
    private Json tournament = new Json("null"); // where it comes back to
    private long lost, failures; // when it was inside last, and how often it has tried to come back since

    public Quintain(String game, BiFunction<Json, String, String> choose) {
        this.game = game;
        this.choose = choose;
    }

    /** Plays until the tournament is over. */
    public void play() throws IOException, InterruptedException {
        var url = Pattern.compile("tcp://(\\[[^\\]]+]|[^:/]+)(?::(\\d{1,5}))?/?").matcher(URL); // URI knows no name with an underscore
        int port = !url.matches() ? -1 : url.group(2) == null ? 8000 : Integer.parseInt(url.group(2));
        if (port < 0 || port > 65_535) throw new ConnectException("cannot play on " + URL + ": expected an address like tcp://127.0.0.1:8000");
        String host = url.group(1).replaceAll("[\\[\\]]", ""), token = remembered(host + "-" + game + "-" + name), why;
        for (;; failures++) {
            try (var socket = new Socket(host, port)) {
                if ((why = visit(socket, token)) == null) return;
            } catch (IOException error) {
                why = error.toString();
            }
            lost = Math.min(lost, System.currentTimeMillis());
            boolean isUseless = why.matches(".*(has taken over|ask its organiser).*") || System.currentTimeMillis() - lost > 120_000;
            if (isUseless && !why.matches(".*(come again later|wait for a minute).*"))
                throw new ConnectException("cannot play on " + URL + ": " + why);
            say("the connection is lost (" + why + "): trying again");
            Thread.sleep((long) (Math.min(15_000, 250L << Math.min(failures, 6)) * (0.5 + Math.random() / 2)));
        }
    }

    /** Plays from the hello to the standings, and returns null; or returns why the connection ended before. */
    private String visit(Socket socket, String token) throws IOException {
        socket.setTcpNoDelay(true); socket.setKeepAlive(true); // a host that is no more is noticed after 40 seconds of silence:
        for (var each : Map.of(TCP_KEEPIDLE, 20, TCP_KEEPINTERVAL, 5, TCP_KEEPCOUNT, 4).entrySet())
            if (socket.supportedOptions().contains(each.getKey())) socket.setOption(each.getKey(), each.getValue());
        socket.setSoTimeout(15_000); // for the host to say welcome
        var in = new Scanner(socket.getInputStream(), "UTF-8");
        var out = new PrintStream(socket.getOutputStream(), true, "UTF-8");
        send(out, "{'type':'hello','name':'%s','game':'%s','token':'%s','tournament':%s}", name.replaceAll("[\"\\\\]", "\\\\$0"), game, token, tournament.text());
        String reason = "the host hung up", you = "", answered = "", line;
        while ((line = in.findWithinHorizon("\\G[^\n]*\n", 0)) != null) { // \G: from here, and not from each later letter
            var told = new Json(line.strip());
            reason = "the host hung up"; // it may do so next, or say why it does
            String match = told.get("match").string(), ply = told.get("ply").text(), question = match + " " + ply;
            switch (told.get("type").string()) {
                case "welcome" -> {
                    lost = Long.MAX_VALUE;
                    socket.setSoTimeout(0); // it may be long until the first match
                    tournament = told.get("tournament");
                    say(name + " is connected to " + URL + ": " + tournament.string().replaceFirst("^null$", "the open table"));
                }
                case "begin" -> {
                    you = told.get("you").string();
                    failures = 0;
                    var names = told.get("players").items();
                    say(match + " from ply " + told.get("moves").items().size() + ": " + names.get(0).string() + " against " + names.get(1).string());
                }
                case "turn" -> {
                    if (!told.get("turn").string().equals(you) || question.equals(answered)) break;
                    answered = question;
                    String choice = choose.apply(told, you), move = choice.substring(0, Math.min(choice.length(), 300)); // none is as long
                    String kind = move.matches("\\d") ? "%s" : "'%s'"; // a number, or text
                    send(out, "{'type':'move','match':'%s','ply':%s,'move':" + kind + "}", match, ply, move);
                }
                case "refused" -> {
                    if (ply.equals("null")) reason = told.get("reason").string();
                    if (lost < Long.MAX_VALUE) return reason; // it was the hello
                    if (!ply.equals("null") || !answered.isEmpty()) say("refused: " + told.get("reason").string());
                    if (!question.equals(answered)) break;
                    answered = "";
                    send(out, "{'type':'state'}"); // asks again, unless this has lost the match
                }
                case "end" -> {
                    String result = Map.of("null", "void", "draw", "drawn", you, "won").getOrDefault(told.get("winner").string(), "lost");
                    say(match + ": " + result + " (" + told.get("why").string() + ")");
                }
                case "standings" -> {
                    var rows = told.get("rows").items();
                    var own = rows.stream().filter(row -> row.get("name").string().equals(name)).findAny();
                    var place = own.map(row -> "rank %s of %d, %s points".formatted(row.get("rank").text(), rows.size(), row.get("points").text()));
                    String frozen = told.get("frozen").text().equals("true") ? " (its standings are frozen)" : "";
                    say(tournament.string() + " is over" + frozen + ": " + place.orElse("this bot is not in its standings"));
                    send(out, "{'type':'bye'}");
                    return null;
                }
            }
        }
        return in.ioException() instanceof SocketTimeoutException ? "the host does not answer" : reason;
    }

    /** The token of a name on a host: the same each time, and readable for nobody else. */
    private String remembered(String key) throws IOException {
        var states = Optional.ofNullable(System.getenv("XDG_STATE_HOME")).filter(folder -> !folder.isEmpty())
            .orElse(System.getenv().getOrDefault("HOME", System.getProperty("user.home").replace("?", ".")) + "/.local/state");
        Path file;
        try {
            file = Files.createDirectories(Path.of(states, "quintain-bot")).resolve(key.replace('/', '_'));
        } catch (InvalidPathException error) {
            throw new IOException("this locale has no such letters, and with LC_ALL=C.UTF-8 it has: " + error.getInput());
        }
        if (Files.notExists(file) && file.getFileSystem().supportedFileAttributeViews().contains("posix"))
            try {
                Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            } catch (FileAlreadyExistsException error) {} // another that has the name was started at the same moment
        if (Files.notExists(file) || Files.size(file) == 0) Files.writeString(file, UUID.randomUUID().toString());
        say("the token is kept in " + file);
        return Files.readString(file).strip();
    }

    private void say(String line) { if (!quiet) System.out.println(line); }
    private static void send(PrintStream out, String message, Object... values) { out.println(message.replace('\'', '"').formatted(values)); }
}
