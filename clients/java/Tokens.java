import java.io.*;
import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.*;

/** Where the token of a bot is kept: whoever has it is the bot, and may come back to its match. */
final class Tokens {
    /** The file of the token of a name on a host, and the token: the same each time, and readable for nobody else. */
    static Map.Entry<Path, String> remembered(String key) throws IOException {
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
        return Map.entry(file, Files.readString(file).strip());
    }
}
